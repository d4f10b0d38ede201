// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;

/// What speaks over a mesh: collectives, later others. All on the lane's thread; must not block.
public interface MeshService {

  /// 0 to 3, its own on the mesh: the first byte of its messages, and the top two bits of the
  /// immediate values of its writes. Any thread.
  int number();

  /// The mesh is connected; endpoints may be used from now on.
  void onStart(Mesh mesh);

  /// Does what can be done now; returns the amount of work done.
  int work(long nowNanos);

  /// A message of this service, its first byte being the service's number; valid during the call
  /// only.
  void onMessage(int fromRank, MemorySegment message);

  /// A write of this service has landed.
  void onNotify(int fromRank, int immediate);

  /// A rank has said good-bye or its connection is lost; said once per rank.
  void onPeerGone(int rank, PeerGone how, TransportException cause);

  /// Whether operations are under way. Any thread.
  boolean busy();

  /// Whether submitted commands wait to be taken. Any thread.
  boolean hasCommands();

  /// The mesh begins to close: fail what is pending.
  void onClose();

  /// The lane has died of this: fail what is pending and what will come.
  void onCrash(Throwable cause);

  /// All farewells are said; the transport closes next: end all registrations.
  void onClosing();

  /// How a peer went.
  enum PeerGone {
    /// It closed in order.
    LEFT,
    /// Its connection broke.
    LOST
  }
}
