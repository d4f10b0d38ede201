// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import io.weft.cluster.Mesh;
import io.weft.transport.PostResult;
import java.util.ArrayDeque;
import java.util.ArrayList;

/// The queue of items for one peer. Items that fit into one message are sent together, in order,
/// while the endpoint has room. Bounded by the limits of its service. Confined to the progress
/// thread.
///
/// @param <W> the type of the items' writer
public final class PeerQueue<W> {

  private final int rank;
  private final ArrayDeque<OutboundItem<W>> items = new ArrayDeque<>();
  private final ArrayList<OutboundItem<W>> batch = new ArrayList<>();

  /// Creates a queue for this rank.
  public PeerQueue(int rank) {
    this.rank = rank;
  }

  /// A listener for sent messages.
  public interface Departures {

    /// Called when a message has been sent.
    ///
    /// Hot path.
    ///
    /// @param asks true if one of its items counts as a request
    void departed(boolean asks);
  }

  /// The memory of a message and the writer of its items.
  ///
  /// @param most maximum number of items of one message
  public record Form<W>(MessageWriter message, W items, int most) {}

  /// The peer's rank.
  public int rank() {
    return rank;
  }

  /// Hot path.
  public void add(OutboundItem<W> item) {
    items.add(item);
  }

  /// Returns whether items are queued.
  public boolean hasPending() {
    return !items.isEmpty();
  }

  /// Discards all queued items.
  public void clear() {
    items.clear();
  }

  /// Sends the queued items that find room. Returns the number of messages sent.
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
