// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.lang.foreign.MemorySegment;

/// A service over a mesh, such as the collectives, the agreements on the membership, the rendezvous
/// and the request channel. Methods run on the progress thread unless stated otherwise, and must
/// not block.
public interface MeshService {

  /// The service's id on the mesh, one of `ServiceIds`; it is the first byte of its messages. Any
  /// thread.
  byte id();

  /// Called when the mesh is connected. Endpoints may be used from now on.
  void onStart(Mesh mesh);

  /// Starts submitted commands before the mesh polls its transport. Returns the amount of work
  /// done. `work` starts the remaining commands in the same duty cycle.
  default int takeCommands(long nowNanos) {
    return 0;
  }

  /// Does the work that is possible now. Returns the amount of work done.
  int work(long nowNanos);

  /// Handles a message of this service, whose first byte is the service's id. The message is valid
  /// only during the call.
  void onMessage(int fromRank, MemorySegment message);

  /// Called when a rank was added, with the next number.
  default void onPeerAdded(int rank) {}

  /// Called once for each rank that has left or is lost. Returns the operations of this rank that
  /// waited for it, in words for the other ranks; empty = none.
  String onPeerGone(int rank, PeerExit how);

  /// Called when the others have given this rank up or when it is cut off. It no longer reaches any
  /// rank.
  ///
  /// @param witness the rank that gave it up first; itself, if it is cut off
  /// @param why the reason, in words, naming this rank and the witness
  void onExcluded(int witness, String why);

  /// Returns whether a message to this rank waits for room. It is sent before a goodbye.
  default boolean hasPending(int rank) {
    return false;
  }

  /// Returns whether operations are in progress. Any thread.
  boolean busy();

  /// Returns whether submitted commands are queued. Any thread.
  boolean hasCommands();

  /// Called when the mesh begins to close. The service must fail its pending operations.
  void onClose();

  /// Called when the progress thread has died of `cause`. The service must fail pending and future
  /// operations.
  void onCrash(Throwable cause);

  /// Called after the goodbyes and before the transport closes. The service must end all
  /// registrations.
  void onClosing();
}
