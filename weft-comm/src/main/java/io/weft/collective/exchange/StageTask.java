// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import java.lang.foreign.MemorySegment;
import java.util.List;

/// One stage of one operation, on one rank, as it runs. Peers are set ranks. What arrives and is
/// not of this kind of exchange breaks the protocol. Confined to the progress thread.
public interface StageTask {

  /// Whose exchange it is.
  RunningOperation operation();

  /// Begins: tells the peers what they must know to take part.
  void start();

  /// Goes on as far as possible, or for a bounded time; returns the amount of work done.
  int advance();

  /// Whether this rank's part is done and its memory is no longer needed by anyone.
  boolean done();

  /// Ends the registrations, once it is done.
  void release();

  /// The same after a failure, as soon as nobody else touches our memory any more; false if
  /// somebody still may. Peers begin nothing new after the first call.
  boolean tryAbandon();

  /// Whether a failed one may end though a lost peer may still be inside its memory: not where the
  /// transport reads it.
  default boolean mayEndWithoutTheLost() {
    return true;
  }

  /// Peers that may still touch our memory, or let the transport do so.
  List<Integer> usedBy();

  /// Whether it cannot end without more from this peer, or has more for it.
  boolean needs(int peer);

  /// Peers that this rank waits for.
  List<Integer> waitingFor();

  // --- what arrives

  /// A message with a segment's bytes.
  default void onEager(int peer, MemorySegment body) {
    operation().brokenBy(peer, "a segment where no segment is due");
  }

  /// A permission to write.
  default void onGrant(int peer, MemorySegment frame) {
    operation().brokenBy(peer, "a grant where none is due");
  }

  /// Slots of a window are free again.
  default void onCredit(int peer, int slots) {
    operation().brokenBy(peer, "credit where none is due");
  }

  /// What this peer says of its memory.
  default void onShare(int peer, MemorySegment frame) {
    operation().brokenBy(peer, "an offer of its memory where none is due");
  }

  /// This peer has submitted the operation too; it may say so more than once.
  default void onEntered(int peer) {}

  /// This peer no longer touches the others' memory.
  default void onDone(int peer, MemorySegment frame) {
    operation().brokenBy(peer, "an end where nothing was begun");
  }
}
