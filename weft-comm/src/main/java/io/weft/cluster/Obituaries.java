// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// Tells every peer once which ranks are lost, whether this rank noticed or was told itself: so all
/// that can still be reached agree, also if a teller dies while it tells. Bounded: one message per
/// lost rank, one bit per peer. Confined to the lane's thread.
final class Obituaries {

  private final Mesh mesh;
  private final int size;
  private final @Nullable MemorySegment[] frames;
  private final BitSet[] told;
  private final BitSet open = new BitSet();

  Obituaries(Mesh mesh, int size) {
    this.mesh = mesh;
    this.size = size;
    this.frames = new MemorySegment[size];
    this.told = new BitSet[size];
  }

  /// Of a rank that is lost; the first word counts.
  void add(MeshFrame.Lost lost) {
    if (frames[lost.rank()] == null) {
      frames[lost.rank()] = lost.encode();
      told[lost.rank()] = new BitSet();
      open.set(lost.rank());
    }
  }

  /// Sends what can be sent now; returns how much was.
  ///
  /// Hot path.
  int flush() {
    return open.isEmpty() ? 0 : sendAll();
  }

  private int sendAll() {
    int sent = 0;
    for (int rank = open.nextSetBit(0); rank >= 0; rank = open.nextSetBit(rank + 1)) {
      boolean all = true;
      for (int peer = 0; peer < size; peer++) {
        Endpoint endpoint = told[rank].get(peer) ? null : mesh.live(peer);
        MemorySegment frame = frames[rank];
        if (endpoint == null || frame == null) {
          continue;
        }
        if (endpoint.trySend(frame) == PostResult.BACK_PRESSURED) {
          all = false;
        } else {
          told[rank].set(peer);
          sent++;
        }
      }
      if (all) {
        open.clear(rank);
      }
    }
    return sent;
  }
}
