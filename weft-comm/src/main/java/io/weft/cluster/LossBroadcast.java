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

  private final Mesh mesh;
  private final BitSet known = new BitSet();
  private final List<MemorySegment> frames = new ArrayList<>(0);

  /// Per peer, how many of `frames` it has been sent.
  private final int[] told;

  private boolean open;

  LossBroadcast(Mesh mesh, int size) {
    this.mesh = mesh;
    this.told = new int[size];
  }

  /// Of a rank that is lost; the first word counts.
  void add(MeshFrame.Lost lost) {
    if (!known.get(lost.rank())) {
      known.set(lost.rank());
      frames.add(lost.encode());
      open = true;
    }
  }

  /// Whether this peer has not been told everything yet.
  boolean hasPending(int peer) {
    return told[peer] < frames.size() && mesh.live(peer) != null;
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
    for (int peer = 0; peer < told.length; peer++) {
      Endpoint endpoint = mesh.live(peer);
      while (endpoint != null && told[peer] < frames.size()) {
        if (endpoint.trySend(frames.get(told[peer])) == PostResult.BACK_PRESSURED) {
          all = false;
          break;
        }
        told[peer]++;
        sent++;
      }
    }
    open = !all;
    return sent;
  }
}
