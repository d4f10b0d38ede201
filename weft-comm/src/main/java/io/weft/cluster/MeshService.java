// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.lang.foreign.MemorySegment;

/// What sends and receives over a mesh: collectives, agreements on the membership, rendezvous,
/// requests and replies. All on the progress thread; must not block.
public interface MeshService {

  /// Its own on the mesh, one of `ServiceIds`: the first byte of its messages. Any thread.
  byte id();

  /// The mesh is connected; endpoints may be used from now on.
  void onStart(Mesh mesh);

  /// Begins what was submitted, before the mesh looks what has come; returns the amount of work
  /// done. What it leaves, `work` begins in the same turn.
  default int takeCommands(long nowNanos) {
    return 0;
  }

  /// Does what can be done now; returns the amount of work done.
  int work(long nowNanos);

  /// A message of this service, its first byte being the service's id; valid during the call only.
  void onMessage(int fromRank, MemorySegment message);

  /// A rank was added: its number is the next one.
  default void onPeerAdded(int rank) {}

  /// A rank has left or is lost. Said once per rank. Returns what this rank waited for, in words
  /// for the others; empty = nothing.
  String onPeerGone(int rank, PeerExit how);

  /// The others have given this rank up, or it is cut off; it reaches nobody any more.
  ///
  /// @param witness the rank that gave it up first; itself, if it is cut off
  /// @param why in words, this rank and the witness included
  void onExcluded(int witness, String why);

  /// Whether something waits for room to be sent to this rank; it goes before a good-bye.
  default boolean hasPending(int rank) {
    return false;
  }

  /// Whether operations are under way. Any thread.
  boolean busy();

  /// Whether submitted commands wait to be taken. Any thread.
  boolean hasCommands();

  /// The mesh begins to close: fail what is pending.
  void onClose();

  /// The progress thread has died of this: fail what is pending and what will come.
  void onCrash(Throwable cause);

  /// All graceful closes are said; the transport closes next: end all registrations.
  void onClosing();
}
