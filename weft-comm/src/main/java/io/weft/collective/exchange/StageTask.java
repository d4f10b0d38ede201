// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import java.lang.foreign.MemorySegment;
import java.util.List;

/// One stage of an operation as it runs on one rank. Peers are set ranks. A frame that does not
/// belong to this kind of exchange violates the protocol. Confined to the progress thread.
public interface StageTask {

  RunningOperation operation();

  /// Begins: sends the peers the information that they need to take part.
  void start();

  /// Advances as far as possible, or for a bounded time; returns the amount of work done.
  int advance();

  /// Returns whether this rank's part is done and its memory is no longer needed by any rank.
  boolean done();

  /// Ends the registrations after `done`.
  void release();

  /// Ends the registrations after a failure, as soon as no peer accesses this rank's memory any
  /// more. Returns false while a peer may still access it. Peers begin nothing new after the first
  /// call.
  boolean tryAbandon();

  /// Returns whether a failed stage may end although a lost peer may still access its memory. False
  /// where the transport reads that memory.
  default boolean mayEndWithoutTheLost() {
    return true;
  }

  /// Returns the peers that may still access this rank's memory, or let the transport do so.
  List<Integer> usedBy();

  /// Returns whether this stage needs further frames from this peer, or has more to send to it.
  boolean needs(int peer);

  /// Returns the peers for which this rank waits.
  List<Integer> waitingFor();

  // --- frames that arrive

  default void onEager(int peer, MemorySegment body) {
    operation().brokenBy(peer, "a segment where no segment is due");
  }

  default void onGrant(int peer, MemorySegment frame) {
    operation().brokenBy(peer, "a grant where none is due");
  }

  /// Handles the return of slots of a window.
  default void onCredit(int peer, int slots) {
    operation().brokenBy(peer, "credit where none is due");
  }

  /// Handles a peer's description of its memory.
  default void onShare(int peer, MemorySegment frame) {
    operation().brokenBy(peer, "an offer of its memory where none is due");
  }

  /// Handles a peer's notice that it has submitted the operation. The notice may be repeated.
  default void onEntered(int peer) {}

  /// Handles a peer's notice that it no longer accesses the others' memory.
  default void onDone(int peer, MemorySegment frame) {
    operation().brokenBy(peer, "a DONE that is not due");
  }
}
