// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.comm.CommException;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.ReceiveRequest;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.TensorLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Tensors received together outside a graph: feeds or fetches of another task. It owns arrived
/// tensors until they are taken; `close` releases the rest.
final class Gathering implements AutoCloseable {

  private final @Nullable TensorLease[] tensors;
  private int missing;
  private boolean closed;
  private @Nullable CommException failure;

  /// Requests all tensors at once.
  ///
  /// @param limit of each receive, which also bounds the wait
  Gathering(Rendezvous rendezvous, List<RendezvousKey> keys, Duration limit) {
    tensors = new TensorLease[keys.size()];
    missing = keys.size();
    List<ReceiveRequest> wishes = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      int at = i;
      wishes.add(new ReceiveRequest(keys.get(i), arrival -> arrived(at, arrival)));
    }
    if (!wishes.isEmpty()) {
      rendezvous.receiveAll(wishes, limit);
    }
  }

  private synchronized void arrived(int at, Arrival arrival) {
    missing--;
    switch (arrival) {
      case Arrival.Live(TensorLease tensor) when closed -> tensor.close();
      case Arrival.Live(TensorLease tensor) -> tensors[at] = tensor;
      case Arrival.Dead() -> failure = new CommException.Aborted("its producer did not run", null);
      case Arrival.Failed(CommException cause) ->
          failure = Objects.requireNonNullElse(failure, cause);
    }
    notifyAll();
  }

  /// Waits until all tensors have arrived. Throws the failure of a failed receive.
  synchronized void await() throws InterruptedException {
    while (missing > 0 && failure == null) {
      wait(); // each receive has a deadline
    }
    if (failure != null) {
      throw failure;
    }
  }

  /// Returns the tensor of this key, borrowed, after `await`.
  synchronized TensorLease tensor(int at) {
    return Objects.requireNonNull(tensors[at], "not there yet");
  }

  @Override
  public synchronized void close() {
    closed = true;
    for (int i = 0; i < tensors.length; i++) {
      TensorLease tensor = tensors[i];
      tensors[i] = null;
      if (tensor != null) {
        tensor.close();
      }
    }
  }
}
