// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// What is alike with negotiation and without: who the ranks are, and objects.
abstract sealed class CommunicatorReducer implements Reducer
    permits DirectReducer, NegotiatedReducer {

  final Communicator communicator;

  private final Worker narrowing;

  CommunicatorReducer(Communicator communicator) {
    this.communicator = communicator;
    this.narrowing = new Worker("weft-narrowing-" + communicator.rank());
  }

  /// The handle of a reduction that is submitted.
  ///
  /// @param narrowed its way in another type; null = in its own
  final Handle<TensorView> checked(Handle<TensorView> reduced, @Nullable NarrowedTensor narrowed) {
    return narrowed == null ? reduced : new NarrowedHandle(this, reduced, narrowed, narrowing);
  }

  /// Runs the progress engine on the calling thread until `done` or until `limit` is over. Returns
  /// false, soon, where another thread runs it, or the caller is inside it, in a callback.
  final boolean progress(BooleanSupplier done, Duration limit) {
    try {
      return communicator.progress(done, limit);
    } catch (IllegalStateException inCallback) {
      return false;
    }
  }

  /// Fails what is under way and what is submitted from now on, on all ranks. Never blocks.
  abstract void abandon(CommException cause);

  /// Whether it has ended because a rank has abandoned it.
  abstract boolean isAborted();

  /// Ends it, on this rank. What has not ended fails.
  abstract void close();

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
