// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// The reports of lost ranks to each peer, in the order in which this rank gave them up, so that a
/// cause precedes its consequences. It also forwards losses that other ranks reported, so that all
/// reachable ranks agree even if a reporter dies while it reports. Bounded: one message per lost
/// rank, one number per peer. Confined to the progress thread.
final class LossBroadcast {

  private final PeerTable peers;
  private final BitSet known = new BitSet();
  private final List<MemorySegment> frames = new ArrayList<>(0);
  private boolean open;

  LossBroadcast(PeerTable peers) {
    this.peers = peers;
  }

  /// Adds a lost rank. Only the first reason counts.
  void add(MeshFrame.Lost lost) {
    if (!known.get(lost.rank())) {
      known.set(lost.rank());
      frames.add(lost.encode());
      open = true;
    }
  }

  /// Notes that this peer knows all current losses.
  void skip(int peer) {
    peers.at(peer).knows(frames.size());
  }

  /// Returns whether this peer has not yet been told of all losses.
  boolean hasPending(int peer) {
    return peers.at(peer).told() < frames.size() && peers.at(peer).live() != null;
  }

  /// Notes that a new peer has connected, which has been told nothing.
  void tellAnother() {
    open = true;
  }

  /// Sends the reports that find room. Returns the number of messages sent.
  ///
  /// Hot path.
  int flush() {
    return open ? sendAll() : 0;
  }

  private int sendAll() {
    int sent = 0;
    boolean all = true;
    for (int rank = 0; rank < peers.size(); rank++) {
      Peer peer = peers.at(rank);
      Endpoint endpoint = peer.live();
      while (endpoint != null && peer.told() < frames.size()) {
        if (endpoint.trySend(frames.get(peer.told())) == PostResult.BACK_PRESSURED) {
          all = false;
          break;
        }
        peer.tellsOneMore();
        sent++;
      }
    }
    open = !all;
    return sent;
  }
}
