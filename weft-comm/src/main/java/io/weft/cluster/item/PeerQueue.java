// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import io.weft.cluster.Mesh;
import io.weft.transport.PostResult;
import java.util.ArrayDeque;
import java.util.ArrayList;

/// What waits to be said to one peer: as many items as fit leave as one message, in order, as far
/// as the endpoint has room. Bounded by what its service bounds. Confined to the progress thread.
///
/// @param <W> what items are written with
public final class PeerQueue<W> {

  private final int rank;
  private final ArrayDeque<OutboundItem<W>> items = new ArrayDeque<>();
  private final ArrayList<OutboundItem<W>> batch = new ArrayList<>();

  /// For this rank.
  public PeerQueue(int rank) {
    this.rank = rank;
  }

  /// Hears of messages that have left.
  public interface Departures {

    /// One has left.
    ///
    /// Hot path.
    ///
    /// @param asks whether one of its items counts as a request
    void departed(boolean asks);
  }

  /// The memory of a message, and what its items are written with.
  ///
  /// @param most items of one message
  public record Form<W>(MessageWriter message, W items, int most) {}

  /// Whom it is for.
  public int rank() {
    return rank;
  }

  /// Hot path.
  public void add(OutboundItem<W> item) {
    items.add(item);
  }

  /// Whether something waits.
  public boolean hasPending() {
    return !items.isEmpty();
  }

  /// What waits reaches nobody.
  public void clear() {
    items.clear();
  }

  /// Sends what waits, as far as there is room. Returns how many messages left.
  ///
  /// Hot path.
  public int flush(Mesh mesh, Form<W> form, Departures departures) {
    MessageWriter message = form.message();
    int sent = 0;
    while (!items.isEmpty()) {
      message.begin();
      boolean asks = false;
      while (message.items() < form.most() && !items.isEmpty()) {
        OutboundItem<W> item = items.getFirst();
        if (!item.write(form.items())) {
          break;
        }
        asks |= item.asks();
        batch.add(items.removeFirst());
      }
      boolean leaves = message.items() > 0;
      if (leaves && mesh.endpoint(rank).trySend(message.end()) == PostResult.BACK_PRESSURED) {
        for (int i = batch.size() - 1; i >= 0; i--) {
          items.addFirst(batch.get(i));
        }
        batch.clear();
        return sent;
      }
      if (leaves) {
        sent++;
        departures.departed(asks);
      }
      for (int i = 0; i < batch.size(); i++) {
        batch.get(i).sent();
      }
      batch.clear();
    }
    return sent;
  }
}
