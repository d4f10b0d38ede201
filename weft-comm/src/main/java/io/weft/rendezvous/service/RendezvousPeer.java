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

/// What this rank has to say to another, and what the other's numbers mean. What waits is bounded
/// by the receives of both ranks. Confined to the progress thread.
final class RendezvousPeer {

  /// Most edges from one rank to another.
  static final int MAX_EDGES = 1 << 16;

  private final PeerQueue<ItemWriter> queue;
  private final List<Route> told = new ArrayList<>();
  private final List<RendezvousPeer> talking;
  private int asked;
  private int parked;
  private boolean isTalking;
  private boolean gone;
  private boolean quiet;

  /// @param talking to which it adds itself when there is something to say
  RendezvousPeer(int rank, List<RendezvousPeer> talking) {
    this.queue = new PeerQueue<>(rank);
    this.talking = talking;
  }

  int rank() {
    return queue.rank();
  }

  /// Nothing is said to a peer that is gone.
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

  /// It was taken from those who have something to say.
  void hush() {
    isTalking = false;
  }

  boolean isGone() {
    return gone;
  }

  boolean hasPending() {
    return queue.hasPending();
  }

  /// Says what it owes and nothing more: this rank leaves, and its good-bye explains all that
  /// fails.
  void quit() {
    quiet = true;
  }

  /// Says nothing more.
  void leave() {
    gone = true;
    queue.clear();
  }

  /// The next number for an edge that this rank asks of it, or -1 if there are too many.
  int nextEdge() {
    return asked == MAX_EDGES ? -1 : asked++;
  }

  /// The peer gives an edge its next number; false if that is not the next, or they are too many.
  boolean define(int number, Route route) {
    return number == told.size() && number < MAX_EDGES && told.add(route);
  }

  /// What the peer means; null if it has not said so.
  @Nullable Route route(int number) {
    return number >= 0 && number < told.size() ? told.get(number) : null;
  }

  /// Requests of the peer that wait here.
  int park(int change) {
    parked += change;
    return parked;
  }

  /// Sends what waits, as far as there is room. Returns how many messages left.
  ///
  /// Hot path.
  int flush(Mesh mesh, PeerQueue.Form<ItemWriter> form, RendezvousCounters traffic) {
    return queue.flush(mesh, form, traffic);
  }
}
