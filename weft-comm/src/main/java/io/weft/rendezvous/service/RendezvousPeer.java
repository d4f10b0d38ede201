// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.cluster.Mesh;
import io.weft.cluster.item.OutboundItem;
import io.weft.cluster.item.PeerQueue;
import io.weft.rendezvous.frame.ItemWriter;
import io.weft.rendezvous.route.Route;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The queue of this rank's items for another rank, and the numbers that the other rank has
/// assigned to edges. The queue is bounded by the receives of both ranks. Confined to the progress
/// thread.
final class RendezvousPeer {

  /// Maximum number of edges from one rank to another.
  static final int MAX_EDGES = 1 << 16;

  private final PeerQueue<ItemWriter> queue;
  private final List<Route> told = new ArrayList<>();
  private final List<RendezvousPeer> talking;
  private int asked;
  private int parked;
  private boolean isTalking;
  private boolean gone;
  private boolean quiet;

  /// @param talking the list to which this peer adds itself when it has queued items
  RendezvousPeer(int rank, List<RendezvousPeer> talking) {
    this.queue = new PeerQueue<>(rank);
    this.talking = talking;
  }

  int rank() {
    return queue.rank();
  }

  /// Queues an item, unless the peer is gone or this rank leaves.
  ///
  /// Hot path.
  void post(OutboundItem<ItemWriter> item) {
    if (gone || quiet) {
      return;
    }
    queue.add(item);
    if (!isTalking) {
      isTalking = true;
      talking.add(this);
    }
  }

  /// Notes that this peer was removed from the list of those with queued items.
  void hush() {
    isTalking = false;
  }

  boolean isGone() {
    return gone;
  }

  boolean hasPending() {
    return queue.hasPending();
  }

  /// Accepts no further items, because this rank leaves and its goodbye explains all failures.
  /// Queued items are still sent.
  void quit() {
    quiet = true;
  }

  /// Discards all items and accepts no further ones.
  void leave() {
    gone = true;
    queue.clear();
  }

  /// Returns the next number for an edge from that rank, or -1 if there are too many.
  int nextEdge() {
    return asked == MAX_EDGES ? -1 : asked++;
  }

  /// Assigns the peer's next number to an edge. Returns false if the number is not the next one or
  /// if there are too many.
  boolean define(int number, Route route) {
    return number == told.size() && number < MAX_EDGES && told.add(route);
  }

  /// Returns the edge with this number of the peer; null if it is unknown.
  @Nullable Route route(int number) {
    return number >= 0 && number < told.size() ? told.get(number) : null;
  }

  /// Changes and returns the number of the peer's parked requests.
  int park(int change) {
    parked += change;
    return parked;
  }

  /// Sends the queued items that find room. Returns the number of messages sent.
  ///
  /// Hot path.
  int flush(Mesh mesh, PeerQueue.Form<ItemWriter> form, RendezvousCounters traffic) {
    return queue.flush(mesh, form, traffic);
  }
}
