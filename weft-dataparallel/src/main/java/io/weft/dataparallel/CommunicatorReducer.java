// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import java.util.List;

/// What is alike with negotiation and without: who the ranks are, and objects.
abstract sealed class CommunicatorReducer implements Reducer
    permits DirectReducer, NegotiatedReducer {

  final Communicator communicator;

  CommunicatorReducer(Communicator communicator) {
    this.communicator = communicator;
  }

  /// Fails what is under way and what is submitted from now on, on all ranks.
  final void abort(CommException cause) {
    communicator.abort(cause);
  }

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
