// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.CommException;
import io.weft.rendezvous.Arrival;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.ffm.DoneCallback;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.LentTensors;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import io.weft.tensorflow.ffm.TensorMemory;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The kernel of one `WeftRecv`: asks the rendezvous and ends when the tensor is there, without
/// holding a thread. A long tensor becomes TensorFlow's where it has landed; a short one is copied,
/// which costs less than being told when TensorFlow does not use it any more. A run starts on a
/// thread of TensorFlow and ends on the lane's thread; the rendezvous orders the two.
final class ReceiveKernel implements TransferKernel, Consumer<Arrival> {

  /// A copy of so much takes about as long as a call from C to Java and two locks.
  private static final long COPIED_BYTES = 4096;

  private final TransferEnd end;
  private final Status status = new Status();
  private final Extents extents = new Extents();
  private final AtomicBoolean running = new AtomicBoolean();

  // Of the run.
  private long context;
  private long callback;
  private @Nullable RunningStep step;

  ReceiveKernel(TransferEnd end) {
    this.end = end;
  }

  @Override
  public void start(long runContext, long done) {
    if (!running.compareAndSet(false, true)) {
      refuse(runContext, done);
      return;
    }
    context = runContext;
    callback = DoneCallback.move(done);
    try {
      RunningStep now = end.part().step();
      step = now;
      if (!now.beginWait()) {
        end.part().giveUp(now);
      }
      now.receives().receive(end.edge(), this);
    } catch (RuntimeException e) {
      finish(StatusCode.FAILED_PRECONDITION, e.getMessage());
    }
  }

  /// On the lane's thread.
  @Override
  public void accept(Arrival arrival) {
    switch (arrival) {
      case Arrival.Live(var tensor) -> arrived(tensor);
      case Arrival.Dead() -> failed(new CommException.Aborted("its producer did not run", null));
      case Arrival.Failed(CommException cause) -> failed(cause);
    }
  }

  private void arrived(TensorLease tensor) {
    CommException failure = null;
    try {
      give(tensor);
    } catch (RuntimeException e) {
      failure = new CommException.Aborted(String.valueOf(e.getMessage()), e);
    }
    if (failure == null) {
      finish(null, null);
    } else {
      failed(failure);
    }
  }

  private void failed(CommException cause) {
    RunningStep of = step;
    if (of != null) {
      end.part().fail(of, cause);
    }
    finish(StatusCode.ABORTED, cause.getMessage());
  }

  private void give(TensorLease lease) {
    TensorView view = lease.view();
    if (view.dtype() != end.dtype()) {
      String got = view.signature();
      lease.close();
      throw new IllegalStateException("expected " + end.dtype() + ", got " + got);
    }
    Shape shape = view.shape();
    MemorySegment dims = extents.dims(shape);
    long output;
    if (view.bytes() <= COPIED_BYTES) {
      try (lease) {
        output =
            KernelContext.allocate(
                context, end.dataType(), dims, extents.rank(), view.bytes(), status);
        TensorMemory.data(output).copyFrom(view.data());
      }
    } else {
      output = LentTensors.lend(end.dataType(), dims, extents.rank(), view.data(), lease::close);
      try {
        KernelContext.output(context, output, status);
      } catch (RuntimeException e) {
        TensorMemory.delete(output);
        throw e;
      }
    }
    TensorMemory.delete(output);
  }

  /// Ends the run. Once the callback runs, TensorFlow may start the next run or delete the kernel.
  private void finish(@Nullable StatusCode failure, @Nullable String why) {
    final long done = callback;
    if (failure != null) {
      status.set(failure, "receive of " + end + ": " + why);
      KernelContext.fail(context, status);
    }
    RunningStep of = step;
    if (of != null) {
      of.endWait();
    }
    step = null;
    running.set(false);
    DoneCallback.runMoved(done);
  }

  /// The kernel is running already, so nothing of it may be touched.
  private void refuse(long refusedContext, long done) {
    try (Status refused = new Status()) {
      refused.set(
          StatusCode.FAILED_PRECONDITION,
          "receive of " + end + " is under way: run one step of a session at a time");
      KernelContext.fail(refusedContext, refused);
    }
    DoneCallback.runInPlace(done);
  }

  @Override
  public void close() {
    status.close();
  }
}
