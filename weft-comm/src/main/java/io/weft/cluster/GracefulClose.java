// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import java.lang.foreign.MemorySegment;

/// The goodbyes of a rank that leaves. The rank sends a goodbye to each peer, after the messages
/// that wait for room, and waits for theirs. It visits no peer again that has been told or is gone,
/// which bounds the work when n ranks leave together. Confined to the progress thread.
final class GracefulClose {

  private final Mesh mesh;
  private final FailureTracker failureTracker;
  private final MeshServices services;
  private final LivenessMonitor liveness;
  private final MemorySegment goodbye = new MeshFrame.Goodbye().encode();
  private final int[] untold;
  private int untoldCount;
  private final int size;

  /// All ranks below this one are gone or too silent to wait for.
  private int awaited;

  GracefulClose(
      Mesh mesh,
      FailureTracker failureTracker,
      MeshServices services,
      LivenessMonitor liveness,
      int size) {
    this.mesh = mesh;
    this.failureTracker = failureTracker;
    this.services = services;
    this.liveness = liveness;
    this.size = size;
    this.untold = new int[size];
    for (int peer = 0; peer < size; peer++) {
      untold[peer] = peer;
    }
    this.untoldCount = size;
  }

  /// Sends the goodbyes that find room. Returns whether a goodbye is still to be sent or received.
  boolean open() {
    var unused = failureTracker.poll();
    boolean open = tell() || failureTracker.isParting();
    while (awaited < size && !isOpen(awaited)) {
      awaited++;
    }
    return open || awaited < size;
  }

  /// Returns whether a rank that is not silent is still to be told.
  private boolean tell() {
    int kept = 0;
    boolean open = false;
    for (int i = 0; i < untoldCount; i++) {
      int peer = untold[i];
      Endpoint endpoint = mesh.live(peer);
      if (endpoint != null && !say(peer, endpoint)) {
        untold[kept++] = peer;
        open |= !liveness.isSilent(peer);
      }
    }
    untoldCount = kept;
    return open;
  }

  private boolean say(int peer, Endpoint endpoint) {
    return !failureTracker.hasPending(peer)
        && !services.hasPending(peer)
        && endpoint.trySend(goodbye) != PostResult.BACK_PRESSURED;
  }

  private boolean isOpen(int peer) {
    return mesh.live(peer) != null && !liveness.isSilent(peer);
  }
}
