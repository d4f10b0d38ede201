// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.dataparallel.Reducer;
import io.weft.tensor.DType;
import io.weft.tensorflow.CommunicatorTable.Served;
import io.weft.tensorflow.ffm.DoneCallback;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.NodeKernels;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The kernel of one node in one session, which runs its collective once per step. Runs do not
/// overlap, so fields keep their state and a run allocates little. A run starts on a TensorFlow
/// thread and ends on the progress thread; the handle orders the two.
///
/// @param <R> the result type of a run's operations
final class CollectiveKernel<R> implements NodeKernels.NodeKernel, BiConsumer<R, CommException> {

  /// The maximum time for which a TensorFlow thread drives a collective. It bounds a deadlock in
  /// which another rank first waits for a collective that this rank's threads have not started.
  private static final Duration LONGEST_DRIVE = Duration.ofMillis(20);

  private final CollectiveOp<R> collective;
  private final long number;
  private final String name;
  private volatile Served served;

  private final Status status = new Status();
  private final KernelTensors tensors;
  private final AtomicBoolean running = new AtomicBoolean();

  // State of the current run.
  private long context;
  private long callback;
  private long step;
  private @Nullable Served used;

  /// Creates a kernel of the communicator with this number. Throws `IllegalStateException` if the
  /// number is unknown.
  ///
  /// @param inputs element types of the inputs
  /// @param name the op's name for messages
  CollectiveKernel(
      CollectiveOp<R> collective,
      List<DType> inputs,
      CommunicatorTable communicators,
      long number,
      String name) {
    this.collective = collective;
    this.tensors = new KernelTensors(inputs, status);
    this.number = number;
    this.served = communicators.served(number);
    this.name = name;
  }

  /// Hot path.
  @Override
  public void start(long runContext, long done) {
    if (!running.compareAndSet(false, true)) {
      refuse(runContext, done);
      return;
    }
    context = runContext;
    step = KernelContext.step(runContext);
    used = null;
    boolean moved = served.mode() == KernelMode.ASYNCHRONOUS;
    callback = moved ? DoneCallback.move(done) : done;
    Handle<R> handle;
    try {
      tensors.begin(runContext);
      Served now = served.steps().begin(step, served);
      used = now;
      handle = moved && collective.isAwaited() ? drive(now) : collective.submit(now, tensors);
    } catch (Throwable t) {
      finish(t);
      return;
    }
    if (handle == null) {
      finish(null);
    } else if (moved && !(collective.isAwaited() && handle.isDone())) {
      handle.whenDone(this);
    } else {
      await(handle);
    }
  }

  /// Submits the collective and drives it on this thread, which has nothing else to compute, for at
  /// most `LONGEST_DRIVE`, which suffices unless other ranks are much later.
  private @Nullable Handle<R> drive(Served now) {
    if (!(now.reducer() instanceof Reducer reducer)) {
      return collective.submit(now, tensors);
    }
    return reducer.drive(
        () -> Objects.requireNonNull(collective.submit(now, tensors)), LONGEST_DRIVE);
  }

  /// Completes the run on the progress thread when the handle is done.
  @Override
  public void accept(@Nullable R result, @Nullable CommException failure) {
    if (result == null || failure != null) {
      finish(failure);
      return;
    }
    try {
      collective.complete(result, tensors);
    } catch (Throwable t) {
      finish(t);
      return;
    }
    finish(null);
  }

  /// Makes the next run use the table's current replacement of `from`, if this kernel uses `from`.
  /// No run may be under way.
  void rebind(Communicator from, CommunicatorTable communicators) {
    if (communicator() == from) {
      served = communicators.served(number);
    }
  }

  private Communicator communicator() {
    return served.communicator();
  }

  @Override
  public void close() {
    status.close();
  }

  /// Ends the run. Once the callback runs, TensorFlow may start the next run or delete the kernel,
  /// so this method reads the run's fields first.
  private void finish(@Nullable Throwable failure) {
    final long done = callback;
    final Served began = used;
    tensors.end();
    if (failure != null) {
      status.set(codeOf(failure), messageOf(failure));
      KernelContext.fail(context, status);
      end(failure, began);
    } else if (began != null) {
      began.steps().end(step, began);
    }
    running.set(false);
    if (served.mode() == KernelMode.ASYNCHRONOUS) {
      DoneCallback.runMoved(done);
    } else {
      DoneCallback.runInPlace(done);
    }
  }

  /// Ends the failed step. TensorFlow starts no further op of the step, so this rank will not
  /// submit its other tensors, and the next step's tensors must not be matched with them on other
  /// ranks (see `Steps`). Runs before the callback, after which the next step may begin.
  private void end(Throwable failure, @Nullable Served began) {
    CommException cause =
        failure instanceof CommException known
            ? known
            : new CommException.Aborted(messageOf(failure), failure);
    boolean aborts = served.steps().fail(step, served, began, cause);
    switch (failure) {
      case CommException.PeerLost lost -> {} // the loss has ended the step on all ranks
      case CommException.Excluded ended -> {}
      case CommException.Aborted ended when served.factory() == null -> {}
      default -> {
        if (aborts) {
          communicator().abort(cause);
        }
      }
    }
  }

  /// Waits for the operation to end, despite interrupts, because it borrows the buffers until its
  /// deadline.
  private void await(Handle<R> handle) {
    boolean interrupted = false;
    while (true) {
      try {
        accept(handle.await(), null);
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (RuntimeException e) {
        finish(e);
        break;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// Refuses an overlapping run without touching the kernel's run state.
  private void refuse(long refusedContext, long done) {
    String why =
        "tensor '"
            + name
            + "' is still in flight on rank "
            + communicator().rank()
            + ": two runs of one graph at once cannot be told apart on the other ranks; let one"
            + " Session.run end before the next, or use a graph and a communicator per thread";
    try (Status refused = new Status()) {
      refused.set(StatusCode.FAILED_PRECONDITION, why);
      KernelContext.fail(refusedContext, refused);
    }
    DoneCallback.runInPlace(done);
    communicator().abort(new CommException.Aborted(why, null));
  }

  private static StatusCode codeOf(Throwable failure) {
    return switch (failure) {
      case CommException.Mismatch m -> StatusCode.INVALID_ARGUMENT;
      case CommException.Broken b -> StatusCode.ABORTED;
      case CommException.TimedOut t -> StatusCode.DEADLINE_EXCEEDED;
      case CommException.PeerLost p -> StatusCode.ABORTED;
      case CommException.Aborted a -> StatusCode.ABORTED;
      case CommException.Excluded e -> StatusCode.ABORTED;
      case IllegalArgumentException e -> StatusCode.INVALID_ARGUMENT;
      case IllegalStateException e -> StatusCode.FAILED_PRECONDITION;
      default -> StatusCode.INTERNAL;
    };
  }

  private String messageOf(Throwable failure) {
    String text =
        switch (failure) {
          case CommException e -> e.getMessage();
          case IllegalArgumentException e -> e.getMessage();
          case IllegalStateException e -> e.getMessage();
          default -> null;
        };
    if (text != null && text.contains("'" + name)) {
      return text;
    }
    return "tensor '"
        + name
        + "' on rank "
        + communicator().rank()
        + ": "
        + (text == null ? failure : text);
  }
}
