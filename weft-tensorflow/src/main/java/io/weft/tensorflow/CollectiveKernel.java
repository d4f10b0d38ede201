// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.ffm.DoneCallback;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import io.weft.tensorflow.ffm.TensorMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The kernel of one node in one session: runs its collective once per step. One run at a time, so
/// the fields of the run live here and a run allocates little. A run starts on a thread of
/// TensorFlow and ends on the progress thread; the handle orders the two.
final class CollectiveKernel implements BiConsumer<TensorView, CommException> {

  private final CollectiveOp collective;
  private final DType dtype;
  private final long number;
  private volatile CommunicatorTable.Served served;
  private final CollectiveOptions options;

  private final Status status = new Status();
  private final MemorySegment pointer = Arena.ofAuto().allocate(JAVA_LONG);
  private final MemorySegment zeroAndResult = Arena.ofAuto().allocate(JAVA_INT, 2);
  private final AtomicBoolean running = new AtomicBoolean();

  // Of the last shape, which is nearly always the next one's too.
  private long[] extents = {};
  private MemorySegment dims = Arena.ofAuto().allocate(JAVA_LONG);
  private Shape shape = Shape.of();

  // Of the run.
  private long context;
  private long callback;
  private long output;

  /// Of the communicator with this number. Throws `IllegalStateException` if that is unknown.
  CollectiveKernel(
      CollectiveOp collective,
      DType dtype,
      CommunicatorTable communicators,
      long number,
      CollectiveOptions options) {
    this.collective = collective;
    this.dtype = dtype;
    this.number = number;
    this.served = communicators.served(number);
    this.options = options;
  }

  /// Runs once. `done` may be used during this call only.
  ///
  /// Hot path.
  void start(long runContext, long done) {
    if (!running.compareAndSet(false, true)) {
      refuse(runContext, done);
      return;
    }
    context = runContext;
    output = 0;
    boolean moved = served.mode() == KernelMode.ASYNCHRONOUS;
    callback = moved ? DoneCallback.move(done) : done;
    Handle<TensorView> handle;
    try {
      handle = submit();
    } catch (Throwable t) {
      finish(t);
      return;
    }
    if (moved) {
      handle.whenDone(this);
    } else {
      finish(failureOf(handle));
    }
  }

  /// The handle is done; on the progress thread.
  @Override
  public void accept(@Nullable TensorView result, @Nullable CommException failure) {
    finish(failure);
  }

  /// Lets the next run use what the table has in place of `from` now, if this kernel uses that. No
  /// run may be under way.
  void rebind(Communicator from, CommunicatorTable communicators) {
    if (communicator() == from) {
      served = communicators.served(number);
    }
  }

  private Communicator communicator() {
    return served.communicator();
  }

  /// TensorFlow has deleted the kernel.
  void close() {
    status.close();
  }

  private Handle<TensorView> submit() {
    long input = KernelContext.input(context, 0, pointer, status);
    MemorySegment from = TensorMemory.data(input);
    rememberShape(input);
    // The context still holds the input's memory, but the tensor would be a second reference.
    TensorMemory.delete(input);
    output =
        KernelContext.forwardInputOrAllocate(context, dims, extents.length, zeroAndResult, status);
    MemorySegment to = TensorMemory.data(output);
    TensorView target = new TensorView(dtype, shape, to);
    TensorView source =
        from.address() == to.address() ? target : new TensorView(dtype, shape, from);
    return collective.submit(served, source, target, options);
  }

  private void rememberShape(long tensor) {
    int rank = TensorMemory.rank(tensor);
    boolean same = rank == extents.length;
    for (int i = 0; same && i < rank; i++) {
      same = TensorMemory.dim(tensor, i) == extents[i];
    }
    if (same) {
      return;
    }
    long[] seen = new long[rank];
    Arrays.setAll(seen, i -> TensorMemory.dim(tensor, i));
    extents = seen;
    dims = Arena.ofAuto().allocate(JAVA_LONG, Math.max(1, rank));
    MemorySegment.copy(seen, 0, dims, JAVA_LONG, 0, rank);
    shape = Shape.of(seen);
  }

  /// Ends the run. Once the callback runs, TensorFlow may start the next run or delete the kernel,
  /// so everything of this run is taken out of the fields first.
  private void finish(@Nullable Throwable failure) {
    final long done = callback;
    if (output != 0) {
      TensorMemory.delete(output);
      output = 0;
    }
    if (failure != null) {
      status.set(codeOf(failure), messageOf(failure));
      KernelContext.fail(context, status);
    }
    running.set(false);
    if (served.mode() == KernelMode.ASYNCHRONOUS) {
      DoneCallback.runMoved(done);
    } else {
      DoneCallback.runInPlace(done);
    }
    if (failure != null) {
      end(failure);
    }
  }

  /// TensorFlow starts no further op of a failed step, so this rank will not submit the step's
  /// other tensors, and a tensor of the next step must not meet another rank's of this one.
  private void end(Throwable failure) {
    switch (failure) {
      case CommException.PeerLost lost -> {} // has ended it on all ranks
      case CommException.Aborted ended -> {}
      case CommException.Excluded ended -> {}
      case CommException other -> communicator().abort(other);
      default -> communicator().abort(new CommException.Aborted(messageOf(failure), failure));
    }
  }

  /// Waits for the end, whatever interrupts come: the buffers are borrowed until the operation's
  /// own deadline ends it, so they cannot be left.
  private static @Nullable Throwable failureOf(Handle<TensorView> handle) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          handle.await();
          return null;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (RuntimeException e) {
          return e;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /// The kernel is running already, so nothing of it may be touched.
  private void refuse(long refusedContext, long done) {
    String why =
        "tensor '"
            + options.name()
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
    String text = failure instanceof CommException e ? e.getMessage() : null;
    if (text != null && text.contains("'" + options.name() + "'")) {
      return text;
    }
    return "tensor '"
        + options.name()
        + "' on rank "
        + communicator().rank()
        + ": "
        + (text == null ? failure : text);
  }
}
