// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.cluster.Mesh;
import io.weft.cluster.item.OutboundItem;
import io.weft.cluster.item.PeerQueue;
import io.weft.comm.CommException;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The requests between this rank and another one, in both directions. Bounded by the limit of open
/// requests in each direction. Confined to the progress thread, except `tryOpen` and `close`.
final class ChannelPeer {

  private static final PeerQueue.Departures NOBODY = asks -> {};

  private final AtomicInteger open = new AtomicInteger();
  private final PeerQueue<ChannelFrame.Writer> queue;

  /// The requests of this rank, in the order of submission.
  private final Set<OutboundRequest> asked = new LinkedHashSet<>();

  /// The requests of the peer that the handler has not seen, in the order of their arrival.
  private final ArrayDeque<InboundRequest> waiting = new ArrayDeque<>();

  private final List<ChannelPeer> active;
  private int unanswered;
  private boolean isActive;

  /// The cause with which requests to the peer fail; null while the peer is reachable.
  private @Nullable CommException goneBy;

  /// @param active the list to which this peer adds itself when it has work
  ChannelPeer(int rank, List<ChannelPeer> active) {
    this.queue = new PeerQueue<>(rank);
    this.active = active;
  }

  int rank() {
    return queue.rank();
  }

  /// Counts a request that is about to be submitted. Returns false if there are too many. Any
  /// thread.
  boolean tryOpen() {
    if (open.incrementAndGet() <= RequestChannel.MAX_OPEN) {
      return true;
    }
    open.decrementAndGet();
    return false;
  }

  /// Counts the end of a request. Any thread.
  void close() {
    open.decrementAndGet();
  }

  Set<OutboundRequest> asked() {
    return asked;
  }

  ArrayDeque<InboundRequest> waiting() {
    return waiting;
  }

  /// Counts a request of the peer (1) or an answer (-1). Returns false if the peer has too many
  /// open requests.
  boolean count(int change) {
    unanswered += change;
    return unanswered <= RequestChannel.MAX_OPEN;
  }

  boolean isGone() {
    return goneBy != null;
  }

  @Nullable CommException goneBy() {
    return goneBy;
  }

  /// Discards the queued messages, which no longer reach the peer. Called after `quit`.
  void leave() {
    queue.clear();
  }

  /// Marks the peer as gone, or this rank as leaving. Queued messages are still sent, but no
  /// further ones are accepted.
  void quit(CommException cause) {
    goneBy = cause;
  }

  void post(OutboundItem<ChannelFrame.Writer> item) {
    if (goneBy == null) {
      queue.add(item);
      activate();
    }
  }

  /// Adds this peer to the active peers, which have work.
  void activate() {
    if (!isActive) {
      isActive = true;
      active.add(this);
    }
  }

  /// Returns whether the peer still has work. If not, the caller removes it from the active peers.
  boolean remainsActive() {
    isActive = queue.hasPending() || !waiting.isEmpty();
    return isActive;
  }

  boolean hasPending() {
    return queue.hasPending();
  }

  /// Sends queued messages as far as the transport has room. Returns the number of messages sent.
  ///
  /// Hot path.
  int flush(Mesh mesh, PeerQueue.Form<ChannelFrame.Writer> form) {
    return queue.flush(mesh, form, NOBODY);
  }

  /// Removes the ended elements; the test may add and remove others. Returns their number.
  static <T> int removeIf(List<T> all, Predicate<T> isEnded) {
    int before = all.size();
    for (T it : before == 0 ? List.<T>of() : List.copyOf(all)) {
      if (isEnded.test(it)) {
        all.remove(it);
      }
    }
    return Math.max(0, before - all.size());
  }
}
