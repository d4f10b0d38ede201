// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.cluster.Task;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A step, or the registration of a graph, that has failed: on all tasks. The session works on,
/// unless a task is lost that it needs. What ran before the failure has changed its variables.
public final class StepException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final Reason reason;
  private final transient @Nullable Task task;

  /// Why a step fails.
  public enum Reason {
    /// A node failed; the message has TensorFlow's, which names the node.
    FAILED,
    /// Its time was over.
    TIMED_OUT,
    /// `WeftSession.cancel`.
    CANCELLED,
    /// A task is lost or has left.
    TASK_LOST
  }

  StepException(Reason reason, @Nullable Task task, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
    this.task = task;
  }

  /// Why it failed.
  public Reason reason() {
    return reason;
  }

  /// The task that failed first, as far as known, or that is lost; the client's own if it gave up.
  /// Null after serialization.
  public @Nullable Task task() {
    return task;
  }
}
