// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// Tells every peer once which ranks are lost, in the order in which this rank gave them up, so
/// that the cause comes before what followed from it; whether this rank noticed or was told itself:
/// so all that can still be reached agree, also if a teller dies while it tells. Bounded: one
/// message per lost rank, one number per peer. Confined to the progress thread.
final class LossBroadcast {

  private final PeerTable peers;
  private final BitSet known = new BitSet();
  private final List<MemorySegment> frames = new ArrayList<>(0);
  private boolean open;

  LossBroadcast(PeerTable peers) {
    this.peers = peers;
  }

  /// Of a rank that is lost; the first word counts.
  void add(MeshFrame.Lost lost) {
    if (!known.get(lost.rank())) {
      known.set(lost.rank());
      frames.add(lost.encode());
      open = true;
    }
  }

  /// This peer knows of all that were given up so far.
  void skip(int peer) {
    peers.at(peer).knows(frames.size());
  }

  /// Whether this peer has not been told everything yet.
  boolean hasPending(int peer) {
    return peers.at(peer).told() < frames.size() && peers.at(peer).live() != null;
  }

  /// A peer has come that has been told nothing.
  void tellAnother() {
    open = true;
  }

  /// Sends what can be sent now; returns how much was.
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
