// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensorflow.ffm.DoneCallback;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.NodeKernels;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// The kernel of one node in one session that waits for a request of a parameter server without a
/// thread, as TensorFlow's `AsyncOpKernel`. Runs do not overlap, so fields keep their state. A run
/// starts on a TensorFlow thread and ends there or on the progress thread.
public abstract class AsyncKernel implements NodeKernels.NodeKernel {

  private final Status status = new Status();
  private final KernelTensors tensors;
  private final AtomicBoolean running = new AtomicBoolean();

  // State of the current run.
  private long context;
  private long callback;

  /// @param inputs element types of the inputs
  protected AsyncKernel(List<DType> inputs) {
    this.tensors = new KernelTensors(inputs, status);
  }

  /// Hot path.
  @Override
  public final void start(long runContext, long done) {
    if (!running.compareAndSet(false, true)) {
      refuse(runContext, done);
      return;
    }
    context = runContext;
    callback = DoneCallback.move(done);
    try {
      tensors.begin(runContext);
      requireSound();
      run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      finish(new CommException.Aborted(words() + ": interrupted", e));
    } catch (Throwable t) {
      finish(t);
    }
  }

  /// Begins the run, which ends with a call of `finish`. Throws only if `finish` was not called and
  /// will not be called.
  protected abstract void run() throws InterruptedException;

  /// Throws the failure of an earlier request whose step has ended.
  protected abstract void requireSound();

  /// Returns a description of the operation for messages.
  protected abstract String words();

  /// Ends the run. Once the callback runs, TensorFlow may start the next run or delete the kernel.
  ///
  /// @param failure of the run; null = none
  protected final void finish(@Nullable Throwable failure) {
    final long done = callback;
    tensors.end();
    if (failure != null) {
      status.set(codeOf(failure), words() + ": " + messageOf(failure));
      KernelContext.fail(context, status);
    }
    running.set(false);
    DoneCallback.runMoved(done);
  }

  /// Returns the inputs and outputs of the current run.
  protected final KernelTensors tensors() {
    return tensors;
  }

  /// Returns the `TF_OpKernelContext*` of the current run.
  protected final long context() {
    return context;
  }

  /// Returns the status for results of calls; borrowed until the run ends.
  protected final Status status() {
    return status;
  }

  @Override
  public final void close() {
    status.close();
  }

  /// Refuses an overlapping run without touching the kernel's run state.
  private void refuse(long refusedContext, long done) {
    try (Status refused = new Status()) {
      refused.set(
          StatusCode.FAILED_PRECONDITION,
          words()
              + " is under way: run one step of a session at a time, or use a session for each"
              + " thread");
      KernelContext.fail(refusedContext, refused);
    }
    DoneCallback.runInPlace(done);
  }

  private static StatusCode codeOf(Throwable failure) {
    return switch (failure) {
      case CommException.Mismatch m -> StatusCode.INVALID_ARGUMENT;
      case CommException.TimedOut t -> StatusCode.DEADLINE_EXCEEDED;
      case CommException other -> StatusCode.ABORTED;
      case IllegalArgumentException e -> StatusCode.INVALID_ARGUMENT;
      case IllegalStateException e -> StatusCode.FAILED_PRECONDITION;
      default -> StatusCode.INTERNAL;
    };
  }

  private static String messageOf(Throwable failure) {
    return switch (failure) {
      case CommException e -> String.valueOf(e.getMessage());
      case IllegalArgumentException e -> String.valueOf(e.getMessage());
      case IllegalStateException e -> String.valueOf(e.getMessage());
      default -> failure.toString();
    };
  }
}
