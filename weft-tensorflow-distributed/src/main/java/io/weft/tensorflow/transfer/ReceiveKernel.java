// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.comm.CommException;
import io.weft.rendezvous.Arrival;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.ffm.BorrowedTensors;
import io.weft.tensorflow.ffm.DoneCallback;
import io.weft.tensorflow.ffm.Extents;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.NativeTensor;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The kernel of a `WeftRecv`. It requests its tensors and ends when all have arrived, without
/// blocking a thread. A long tensor is lent to TensorFlow. A short one is copied, which costs less
/// than a later release. A run starts on a TensorFlow thread and ends on the progress thread; the
/// rendezvous orders the two.
final class ReceiveKernel implements TransferKernel {

  /// The size whose copy takes about as long as a call from C to Java and two locks.
  static final long COPIED_BYTES = 4096;

  /// The output shape for a tensor that the run's call does not use.
  private static final Shape NOTHING = Shape.of(0);

  private final List<Member> members;
  private final GraphPart part;
  private final Status status = new Status();
  private final AtomicBoolean running = new AtomicBoolean();
  private final AtomicInteger missing = new AtomicInteger();
  private final AtomicReference<@Nullable Failure> failure = new AtomicReference<>();

  // State of the current run.
  private long context;
  private long callback;
  private @Nullable RunningStep step;

  private record Failure(TransferEnd of, @Nullable String why) {}

  ReceiveKernel(List<TransferEnd> ends) {
    List<Member> all = new ArrayList<>(ends.size());
    for (TransferEnd end : ends) {
      all.add(new Member(end, all.size()));
    }
    members = List.copyOf(all);
    part = ends.getFirst().part();
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
      RunningStep now = part.step();
      step = now;
      if (!now.beginWait()) {
        part.giveUp(now);
      }
      receive(now.receives());
    } catch (RuntimeException e) {
      finish(StatusCode.FAILED_PRECONDITION, new Failure(members.getFirst().end, e.getMessage()));
    }
  }

  /// Requests the tensors that the call needs. After the last request, the run may have ended and
  /// another may have begun.
  private void receive(StepReceives receives) {
    int wanted = 0;
    for (Member member : members) {
      member.wanted = members.size() == 1 || receives.expects(member.end.edge());
      wanted += member.wanted ? 1 : 0;
    }
    if (wanted == 0) {
      throw new IllegalStateException("the call needs none of its tensors");
    }
    missing.set(wanted);
    int asked = 0;
    for (int i = 0; asked < wanted; i++) {
      Member member = members.get(i);
      if (member.wanted) {
        asked++;
        try {
          receives.receive(member.end.edge(), member);
        } catch (RuntimeException e) {
          member.accept(
              new Arrival.Failed(new CommException.Aborted(String.valueOf(e.getMessage()), e)));
        }
      }
    }
  }

  /// One tensor of the kernel.
  private final class Member implements Consumer<Arrival> {
    private final TransferEnd end;
    private final int index;
    private final Extents extents = new Extents();

    // State of the current run.
    private boolean wanted;
    private @Nullable TensorLease tensor;

    Member(TransferEnd end, int index) {
      this.end = end;
      this.index = index;
    }

    /// Handles the arrival on the progress thread.
    @Override
    public void accept(Arrival arrival) {
      switch (arrival) {
        case Arrival.Live(var came) -> tensor = came;
        case Arrival.Dead() -> fail(new CommException.Aborted("its producer did not run", null));
        case Arrival.Failed(CommException cause) -> fail(cause);
      }
      if (missing.decrementAndGet() == 0) {
        giveAll();
      }
    }

    private void fail(CommException cause) {
      failure.compareAndSet(null, new Failure(end, cause.getMessage()));
      RunningStep of = step;
      if (of != null) {
        part.fail(of, cause); // fails the missing receives too
      }
    }

    /// Hot path for the shape of the previous run.
    void give() {
      TensorLease lease = tensor;
      tensor = null;
      if (lease == null) {
        NativeTensor.delete(
            KernelContext.allocate(
                context, index, end.dataType(), extents.dims(NOTHING), 1, 0, status));
        return;
      }
      TensorView view = lease.view();
      if (view.dtype() != end.dtype()) {
        String got = view.signature();
        lease.close();
        throw new IllegalStateException("expected " + end.dtype() + ", got " + got);
      }
      MemorySegment dims = extents.dims(view.shape());
      if (view.bytes() <= COPIED_BYTES) {
        copy(lease, view, dims);
      } else {
        lend(lease, view, dims);
      }
    }

    private void copy(TensorLease lease, TensorView view, MemorySegment dims) {
      try (lease) {
        long output =
            KernelContext.allocate(
                context, index, end.dataType(), dims, extents.rank(), view.bytes(), status);
        NativeTensor.data(output).copyFrom(view.data());
        NativeTensor.delete(output);
      }
    }

    private void lend(TensorLease lease, TensorView view, MemorySegment dims) {
      long output =
          BorrowedTensors.lend(end.dataType(), dims, extents.rank(), view.data(), lease::close);
      try {
        KernelContext.output(context, index, output, status);
      } finally {
        NativeTensor.delete(output);
      }
    }

    void giveBack() {
      TensorLease lease = tensor;
      tensor = null;
      if (lease != null) {
        lease.close();
      }
    }
  }

  /// Sets all outputs, or releases the tensors after a failure.
  private void giveAll() {
    for (Member member : members) {
      if (failure.get() != null) {
        member.giveBack();
        continue;
      }
      try {
        member.give();
      } catch (RuntimeException e) {
        member.fail(new CommException.Aborted(String.valueOf(e.getMessage()), e));
      }
    }
    finish(StatusCode.ABORTED, failure.getAndSet(null));
  }

  /// Ends the run. Once the callback runs, TensorFlow may start the next run or delete the kernel.
  private void finish(StatusCode code, @Nullable Failure of) {
    final long done = callback;
    if (of != null) {
      status.set(code, "receive of " + of.of() + ": " + of.why());
      KernelContext.fail(context, status);
    }
    RunningStep over = step;
    if (over != null) {
      over.endWait();
    }
    step = null;
    running.set(false);
    DoneCallback.runMoved(done);
  }

  /// Refuses an overlapping run without touching the kernel's run state.
  private void refuse(long refusedContext, long done) {
    try (Status refused = new Status()) {
      refused.set(
          StatusCode.FAILED_PRECONDITION,
          "receive of "
              + members.getFirst().end
              + " is under way: run one step of a session at a time");
      KernelContext.fail(refusedContext, refused);
    }
    DoneCallback.runInPlace(done);
  }

  @Override
  public void close() {
    status.close();
  }
}
