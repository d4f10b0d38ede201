// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.Communicator;
import io.weft.collective.WireHook;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.dataparallel.frame.Collective;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.dataparallel.fusion.FusionBuffer;
import io.weft.dataparallel.fusion.FusionMemory;
import io.weft.dataparallel.fusion.FusionPlan.Batch;
import io.weft.dataparallel.fusion.Neutral;
import io.weft.dataparallel.fusion.SumOrder;
import io.weft.dataparallel.negotiation.ReadyTensor;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The pipeline of batches: each batch is copied into a buffer, reduced and copied out. At most two
/// batches are in flight, so that one is copied while the other is on the wire. Batches start and
/// end in the same order on all ranks. Confined to the layer's thread.
final class BatchPipeline {

  private static final Logger LOG = LoggerFactory.getLogger(BatchPipeline.class);

  /// The maximum number of batches in flight, each with a buffer.
  private static final int UNDER_WAY = 2;

  private final Communicator communicator;
  private final Map<String, PendingOperation> pending;
  private final FusionMemory memory;
  private final Runnable onDone;
  private final LayerSpans spans;
  private final FusionBuffer[] buffers = new FusionBuffer[UNDER_WAY];
  private final ArrayDeque<Batch> waiting = new ArrayDeque<>();
  private final ArrayDeque<Running> running = new ArrayDeque<>(UNDER_WAY);
  private long started;
  private String lastOperation = "";

  /// The time at which the waiting batches became ready, which is equal for all because no round
  /// begins while batches wait.
  private long readyNanos;

  /// A batch in flight.
  ///
  /// @param name the operation's name
  /// @param memory the fusion buffer; null if the batch is reduced in its tensor's memory
  /// @param scratch memory that is closed with the batch; null = none
  private record Running(
      Batch batch,
      String name,
      Handle<?> handle,
      @Nullable TensorView memory,
      @Nullable TensorLease scratch) {}

  /// @param pending the tensors of this rank, by name; a completed tensor is removed
  /// @param onDone called on any thread when a batch may have ended
  /// @param spans the recorder of the pipeline's work
  BatchPipeline(
      Communicator communicator,
      Map<String, PendingOperation> pending,
      FusionMemory memory,
      Runnable onDone,
      LayerSpans spans) {
    this.communicator = communicator;
    this.pending = pending;
    this.memory = memory;
    this.onDone = onDone;
    this.spans = spans;
    for (int i = 0; i < UNDER_WAY; i++) {
      buffers[i] = memory.buffer();
    }
  }

  /// Adds batches whose tensors are ready on all ranks.
  void add(List<Batch> batches) {
    waiting.addAll(batches);
    readyNanos = spans.now();
    if (readyNanos != 0) {
      for (Batch batch : batches) {
        negotiated(batch);
      }
    }
  }

  private void negotiated(Batch batch) {
    for (ReadyTensor tensor : batch.tensors()) {
      PendingOperation own = pending.get(tensor.name());
      if (own != null) {
        spans.record(SpanCategory.NEGOTIATE, own.name(), own.submittedNanos(), readyNanos);
      }
    }
  }

  /// Returns true while batches wait for their start. Tensors that become ready later can overtake
  /// a batch only before it is added.
  boolean isFull() {
    return !waiting.isEmpty();
  }

  boolean isIdle() {
    return waiting.isEmpty() && running.isEmpty();
  }

  /// Returns the name of the tensor that was completed last; empty = none yet.
  String lastOperation() {
    return lastOperation;
  }

  /// Ends batches that are complete and starts batches while buffers are free. Returns the number
  /// of batches ended and started. Throws the cause if the communicator has failed.
  int work() throws InterruptedException {
    int work = 0;
    while (!running.isEmpty() && running.getFirst().handle().isDone()) {
      end(running.removeFirst());
      work++;
    }
    while (!waiting.isEmpty() && running.size() < UNDER_WAY) {
      start(waiting.removeFirst());
      work++;
    }
    return work;
  }

  private void start(Batch batch) {
    ReadyTensor first = batch.first();
    if (first.signature().collective() != Collective.ALLREDUCE) {
      spans.record(SpanCategory.QUEUE, first.name(), readyNanos);
      run(batch, first.name(), submit(first), null, null);
      return;
    }
    if (batch.bytes() == 0) {
      batch.tensors().forEach(tensor -> complete(tensor.name()));
      lastOperation = first.name();
      return;
    }
    PendingTensor own = allreduce(first.name());
    spans.record(SpanCategory.QUEUE, first.name(), readyNanos);
    if (batch.isFused()) {
      // Batches end in the order of their starts, so the batch before the last has left its buffer.
      int turn = (int) (started++ % UNDER_WAY);
      String name = "weft/fusion-" + turn;
      TensorView buffer;
      try {
        buffer = buffers[turn].of(first.signature().dtype(), batch.bytes());
        long begun = spans.now();
        copyIn(batch, buffer);
        spans.record(SpanCategory.FUSE, name, begun);
      } catch (OutOfMemoryError | IllegalStateException unusable) {
        refuse(batch, name, unusable);
        return;
      }
      // Each tensor was scaled when it was copied in.
      WireHook none = WireHook.NONE;
      run(batch, name, allreduce(name, buffer, buffer, first.signature(), none), buffer, null);
    } else if (own != null) {
      ReductionRequest asked = own.request();
      Handle<?> handle;
      try {
        handle =
            allreduce(first.name(), asked.input(), asked.output(), first.signature(), own.hook());
      } catch (IllegalStateException | IllegalArgumentException unusable) {
        refuse(batch, first.name(), unusable);
        return;
      }
      run(batch, first.name(), handle, null, null);
    } else {
      TensorSignature signature = first.signature();
      TensorLease scratch = memory.allocator().apply(signature.dtype(), signature.shape());
      Neutral.fill(scratch.view().data(), signature.dtype(), signature.op());
      Handle<?> handle =
          allreduce(first.name(), scratch.view(), scratch.view(), signature, WireHook.NONE);
      run(batch, first.name(), handle, null, scratch);
    }
  }

  private @Nullable PendingTensor allreduce(String name) {
    return pending.get(name) instanceof PendingTensor own ? own : null;
  }

  private Handle<?> submit(ReadyTensor tensor) {
    CollectiveRequest<?> request =
        pending.get(tensor.name()) instanceof PendingCollective<?> own
            ? own.request()
            : JoinedRequest.of(tensor, communicator);
    return CollectiveStart.submit(communicator, request, Duration.ZERO);
  }

  /// Submits a tensor of a length that differs from the other ranks' length. The operation then
  /// fails on all ranks, and the communicator remains usable.
  ///
  /// @param why the reason: this rank has no buffer, or the memory of a tensor was closed
  private void refuse(Batch batch, String name, Throwable why) {
    LOG.error("{} cannot be filled or read: {}", words(batch), why.toString());
    TensorSignature signature = batch.first().signature();
    TensorView one =
        new TensorView(
            signature.dtype(), Shape.of(1), Arena.ofAuto().allocate(signature.dtype().bytes(), 64));
    run(batch, name, allreduce(name, one, one, signature, WireHook.NONE), null, null);
  }

  private static String words(Batch batch) {
    String first = batch.first().name();
    return batch.isFused()
        ? "a fusion buffer of %d bytes for '%s' to '%s'"
            .formatted(batch.bytes(), first, batch.tensors().getLast().name())
        : "tensor '" + first + "'";
  }

  /// Returns the failure of a batch. Ranks have agreed on the tensors of an allreduce, so a
  /// mismatch can come only from a rank that refused the batch.
  private static CommException failure(Batch batch, CommException cause) {
    if (!(cause instanceof CommException.Mismatch)
        || batch.first().signature().collective() != Collective.ALLREDUCE) {
      return cause;
    }
    return new CommException.Mismatch(
        "a rank, whose log says which, has no memory for "
            + words(batch)
            + (batch.isFused() ? ", or that of a tensor in it was closed" : ": it was closed")
            + "; keep arenas open until the handle is done, and where memory is short, lower"
            + " fusion-threshold on all ranks; the reducer works on: "
            + cause.getMessage());
  }

  private void run(
      Batch batch,
      String name,
      Handle<?> handle,
      @Nullable TensorView memory,
      @Nullable TensorLease scratch) {
    running.add(new Running(batch, name, handle, memory, scratch));
    handle.whenDone((result, cause) -> onDone.run());
  }

  private Handle<TensorView> allreduce(
      String name, TensorView input, TensorView output, TensorSignature signature, WireHook hook) {
    return communicator.allreduce(
        new AllreduceRequest(input, output, signature.op(), hook, SumOrder.options(name)));
  }

  private void copyIn(Batch batch, TensorView buffer) {
    long at = 0;
    for (ReadyTensor tensor : batch.tensors()) {
      long bytes = tensor.signature().bytes();
      var part = buffer.data().asSlice(at, bytes);
      PendingTensor own = allreduce(tensor.name());
      if (own != null) {
        own.copyIn(part);
      } else {
        Neutral.fill(part, tensor.signature().dtype(), tensor.signature().op());
      }
      at += bytes;
    }
  }

  private void end(Running ended) throws InterruptedException {
    @Nullable Object result;
    try {
      result = ended.handle().await();
    } catch (CommException.Mismatch | CommException.Broken cause) {
      CommException told = failure(ended.batch(), cause);
      ended.batch().tensors().forEach(tensor -> fail(tensor.name(), told));
      return;
    } finally {
      TensorLease scratch = ended.scratch();
      if (scratch != null) {
        scratch.close();
      }
    }
    ReadyTensor first = ended.batch().first();
    if (first.signature().collective() != Collective.ALLREDUCE) {
      complete(first.name(), result);
      return;
    }
    TensorView memory = ended.memory();
    if (memory != null) {
      long begun = spans.now();
      copyOut(ended.batch(), memory);
      spans.record(SpanCategory.COPY_OUT, ended.name(), begun);
    }
    // In reverse order, a thread that awaits the tensors sequentially wakes up once, at the last
    // one.
    for (ReadyTensor tensor : ended.batch().tensors().reversed()) {
      complete(tensor.name());
    }
    lastOperation = ended.batch().tensors().getLast().name();
  }

  private void copyOut(Batch batch, TensorView buffer) {
    long at = 0;
    for (ReadyTensor tensor : batch.tensors()) {
      long bytes = tensor.signature().bytes();
      PendingTensor own = allreduce(tensor.name());
      if (own != null) {
        try {
          own.copyOut(buffer.data().asSlice(at, bytes));
        } catch (IllegalStateException closed) {
          fail(
              tensor.name(),
              new CommException.Broken(
                  "allreduce '"
                      + tensor.name()
                      + "' is done, but the memory of its output was closed on this rank; keep"
                      + " arenas open until the handle is done",
                  communicator.members().ranks().get(communicator.rank()),
                  closed));
        }
      }
      at += bytes;
    }
  }

  private void complete(String name) {
    if (pending.remove(name) instanceof PendingTensor own) {
      own.handle().complete(own.request().output());
    }
  }

  private void complete(String name, @Nullable Object result) {
    lastOperation = name;
    if (pending.remove(name) instanceof PendingCollective<?> own) {
      own.complete(result);
    } else {
      CollectiveStart.discard(result);
    }
  }

  void fail(String name, CommException cause) {
    PendingOperation own = pending.remove(name);
    if (own != null) {
      own.fail(cause);
    }
  }

  /// Frees the buffers unless batches are in flight.
  void close() {
    if (running.isEmpty()) {
      for (FusionBuffer buffer : buffers) {
        buffer.close();
      }
    }
  }
}
