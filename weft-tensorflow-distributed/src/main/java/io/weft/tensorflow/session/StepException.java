// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.cluster.Task;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The failure of a step, or of the registration of a graph, on all tasks. The session remains
/// usable unless a task that it needs is lost. Nodes that ran before the failure have changed their
/// variables.
public final class StepException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final Reason reason;
  private final transient @Nullable Task task;

  /// The reason for a step's failure.
  public enum Reason {
    /// A node failed; the message contains TensorFlow's, which names the node.
    FAILED,
    /// The time limit was exceeded.
    TIMED_OUT,
    /// The caller called `WeftSession.cancel` or `abandon`.
    CANCELLED,
    /// A task is lost or has left.
    TASK_LOST
  }

  StepException(Reason reason, @Nullable Task task, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
    this.task = task;
  }

  /// Returns the reason for the failure.
  public Reason reason() {
    return reason;
  }

  /// Returns the first task known to have failed, the lost task, the task that did not finish in
  /// time, or, after a cancellation, the client's. Null after serialization.
  public @Nullable Task task() {
    return task;
  }
}
