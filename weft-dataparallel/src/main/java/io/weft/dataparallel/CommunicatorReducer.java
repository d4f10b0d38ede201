// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import java.util.List;

/// What needs no negotiation, in either way: who the ranks are, and objects.
abstract sealed class CommunicatorReducer implements Reducer
    permits DirectReducer, NegotiatedReducer {

  final Communicator communicator;
  private final ObjectExchange objects;

  CommunicatorReducer(Communicator communicator) {
    this.communicator = communicator;
    this.objects = new ObjectExchange(communicator);
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
  public final <T> T broadcastObject(String name, T value, ObjectCodec<T> codec, int root)
      throws InterruptedException {
    return objects.broadcast(name, value, codec, root);
  }

  @Override
  public final <T> List<T> allgatherObject(String name, T value, ObjectCodec<T> codec)
      throws InterruptedException {
    return objects.allgather(name, value, codec);
  }
}
