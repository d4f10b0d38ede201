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
import org.jspecify.annotations.Nullable;

/// What this rank and another have to do with each other. Bounded by the requests of both that are
/// not over. Confined to the progress thread, but for `tryOpen` and `close`.
final class ChannelPeer {

  private static final PeerQueue.Departures NOBODY = asks -> {};

  private final AtomicInteger open = new AtomicInteger();
  private final PeerQueue<ChannelFrame.Writer> queue;

  /// Of this rank, in the order of submission.
  private final Set<OutboundRequest> asked = new LinkedHashSet<>();

  /// Of the peer, in the order in which they came; the handler has not seen the first one.
  private final ArrayDeque<InboundRequest> waiting = new ArrayDeque<>();

  private final List<ChannelPeer> active;
  private int unanswered;
  private boolean isActive;

  /// Why requests to it fail; null = they do not.
  private @Nullable CommException goneBy;

  /// @param active to which it adds itself when there is something to do with it
  ChannelPeer(int rank, List<ChannelPeer> active) {
    this.queue = new PeerQueue<>(rank);
    this.active = active;
  }

  int rank() {
    return queue.rank();
  }

  /// Counts a request that is about to be submitted; false if there are too many. Any thread.
  boolean tryOpen() {
    if (open.incrementAndGet() <= RequestChannel.MAX_OPEN) {
      return true;
    }
    open.decrementAndGet();
    return false;
  }

  /// One of them is over. Any thread.
  void close() {
    open.decrementAndGet();
  }

  Set<OutboundRequest> asked() {
    return asked;
  }

  ArrayDeque<InboundRequest> waiting() {
    return waiting;
  }

  /// The peer has asked, or was answered. False if it has asked more than it may.
  boolean count(int change) {
    unanswered += change;
    return unanswered <= RequestChannel.MAX_OPEN;
  }

  boolean isGone() {
    return goneBy != null;
  }

  /// Why it cannot be asked; null = it can.
  @Nullable CommException goneBy() {
    return goneBy;
  }

  /// After `quit`: what waits for it reaches nobody.
  void leave() {
    queue.clear();
  }

  /// The peer is gone, or this rank leaves: what is posted already still leaves, and nothing more.
  void quit(CommException cause) {
    goneBy = cause;
  }

  void post(OutboundItem<ChannelFrame.Writer> item) {
    if (goneBy == null) {
      queue.add(item);
      activate();
    }
  }

  /// There is something to do with it.
  void activate() {
    if (!isActive) {
      isActive = true;
      active.add(this);
    }
  }

  /// Whether there still is; if not, it was taken from those with which there is.
  boolean remainsActive() {
    isActive = queue.hasPending() || !waiting.isEmpty();
    return isActive;
  }

  boolean hasPending() {
    return queue.hasPending();
  }

  /// Sends what waits, as far as there is room. Returns how many messages left.
  ///
  /// Hot path.
  int flush(Mesh mesh, PeerQueue.Form<ChannelFrame.Writer> form) {
    return queue.flush(mesh, form, NOBODY);
  }
}
