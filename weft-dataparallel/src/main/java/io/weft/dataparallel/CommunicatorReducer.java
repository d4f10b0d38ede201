// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.dataparallel.CollectiveRequest.Allgather;
import io.weft.dataparallel.CollectiveRequest.Alltoall;
import io.weft.dataparallel.CollectiveRequest.Broadcast;
import io.weft.dataparallel.CollectiveRequest.ReduceScatter;
import io.weft.dataparallel.worker.Worker;
import io.weft.memory.UserMemory;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A reducer over a communicator: the part common to both kinds.
abstract sealed class CommunicatorReducer implements Reducer
    permits DirectReducer, NegotiatedReducer {

  final Communicator communicator;

  private final Worker narrowing;

  CommunicatorReducer(Communicator communicator) {
    this.communicator = communicator;
    this.narrowing = new Worker("weft-narrowing-" + communicator.rank());
  }

  /// Returns the handle of a submitted reduction.
  ///
  /// @param narrowed the tensor in its narrower wire type; null = it is sent in its own type
  final Handle<TensorView> checked(Handle<TensorView> reduced, @Nullable NarrowedTensor narrowed) {
    return narrowed == null ? reduced : new NarrowedHandle(this, reduced, narrowed, narrowing);
  }

  /// Runs the progress engine on the calling thread until `done` or until `limit` has passed.
  /// Returns false early if another thread runs the engine, or if the caller is inside it, in a
  /// callback.
  final boolean progress(BooleanSupplier done, Duration limit) {
    try {
      return communicator.progress(done, limit);
    } catch (IllegalStateException inCallback) {
      return false;
    }
  }

  /// Fails operations in flight and later submissions, on all ranks. Never blocks.
  abstract void abandon(CommException cause);

  /// Returns true if the reducer has ended because a rank has abandoned it.
  abstract boolean isAborted();

  /// Notifies the other ranks that this rank leaves, so that their later submissions fail. Does not
  /// wait.
  abstract void leave();

  /// Ends the reducer on this rank, after `leave`. Waits at most until this time of
  /// `Ticker.SYSTEM`. Operations in flight fail.
  abstract void close(long endNanos);

  /// Returns this rank in words, for messages.
  abstract String self();

  /// Checks the fields of a request that depend on the ranks of the communicator.
  final void checkRanks(CollectiveRequest<?> request) {
    switch (request) {
      case Broadcast broadcast when broadcast.root() >= size() ->
          throw new IllegalArgumentException(
              "broadcast '%s': root %d is not a rank of %d"
                  .formatted(broadcast.name(), broadcast.root(), size()));
      case ReduceScatter scatter -> {
        Shape rows = JoinedRequest.rows(scatter.input().shape(), communicator);
        if (!scatter.output().shape().equals(rows)) {
          throw new IllegalArgumentException(
              "reduceScatter '%s' of %s: the output is %s, expected %s%s"
                  .formatted(
                      scatter.name(),
                      self(),
                      scatter.output().signature(),
                      scatter.input().dtype(),
                      rows));
        }
      }
      case Alltoall alltoall when alltoall.splits().size() != size() ->
          throw new IllegalArgumentException(
              "alltoall '%s': splits for %d ranks, there are %d"
                  .formatted(alltoall.name(), alltoall.splits().size(), size()));
      case Alltoall alltoall -> {}
      case Broadcast broadcast -> {}
      case Allgather gather -> {}
      case TuneRequest tune -> {}
    }
  }

  /// Checks that other threads can access the tensors, and can write the outputs.
  static void checkMemory(PendingOperation operation) {
    for (TensorView tensor : operation.tensors()) {
      if (!UserMemory.isReadable(tensor.data())) {
        throw new IllegalArgumentException(
            operation.words()
                + ": the "
                + (tensor.equals(operation.tensors().getFirst()) ? "input" : "output")
                + " is in an arena that is closed or confined to a thread; use Weft.allocate,"
                + " Arena.ofShared() or Arena.ofAuto()");
      }
    }
    if (operation.written().stream().anyMatch(each -> each.data().isReadOnly())) {
      throw new IllegalArgumentException(operation.words() + ": the output is read-only");
    }
  }

  @Override
  public final int rank() {
    return communicator.rank();
  }

  @Override
  public final int size() {
    return communicator.size();
  }

  @Override
  public final List<Integer> members() {
    return communicator.members().ranks();
  }

  @Override
  public final <T> T broadcastObject(String name, T value, ObjectCodec<T> codec, int root)
      throws InterruptedException {
    return new ObjectExchange(this).broadcast(name, value, codec, root);
  }

  @Override
  public final <T> List<T> allgatherObject(String name, T value, ObjectCodec<T> codec)
      throws InterruptedException {
    return new ObjectExchange(this).allgather(name, value, codec);
  }
}
