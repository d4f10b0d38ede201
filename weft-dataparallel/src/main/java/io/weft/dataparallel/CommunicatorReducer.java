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

  /// Ends the reducer on this rank. Operations in flight fail.
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
