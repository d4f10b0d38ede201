// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.region.RegionTable;
import io.weft.transport.secure.ProvedClaim;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// What two connected endpoints share: a pipe in each direction, the handshake, and the end. A side
/// copies between its own and the peer's memory by itself; `close` waits for a copy that is under
/// way, so that afterwards nobody touches the closer's memory through this line.
final class Line {

  private static final class Side {
    final Pipe outgoing = new Pipe();
    final AtomicBoolean copying = new AtomicBoolean();
  }

  final byte[] initiatorNonce;
  final byte[] responderNonce;
  final ProvedClaim offer;
  final InprocTransport initiator;
  private final Side first = new Side();
  private final Side second = new Side();
  // Set by the responder, read by the initiator.
  private final AtomicReference<@Nullable ProvedClaim> answer = new AtomicReference<>();
  private final AtomicReference<@Nullable String> end = new AtomicReference<>();
  private volatile @Nullable RegionTable responderTable;

  Line(byte[] initiatorNonce, byte[] responderNonce, ProvedClaim offer, InprocTransport initiator) {
    this.initiatorNonce = initiatorNonce;
    this.responderNonce = responderNonce;
    this.offer = offer;
    this.initiator = initiator;
  }

  /// The responder's answer; null until there is one.
  @Nullable ProvedClaim answer() {
    return answer.get();
  }

  void answer(ProvedClaim made, RegionTable table) {
    responderTable = table;
    answer.set(made);
  }

  /// The peer's regions, once the line is answered.
  RegionTable remoteTable(boolean initiating) {
    RegionTable table = initiating ? responderTable : initiator.table();
    if (table == null) {
      throw new IllegalStateException("the line is not answered");
    }
    return table;
  }

  Pipe outgoing(boolean initiating) {
    return side(initiating).outgoing;
  }

  Pipe incoming(boolean initiating) {
    return side(!initiating).outgoing;
  }

  /// Begins a copy of bounded length; false if the line has ended.
  boolean beginCopy(boolean initiating) {
    AtomicBoolean copying = side(initiating).copying;
    copying.set(true);
    if (end.get() == null) {
      return true;
    }
    copying.set(false);
    return false;
  }

  void endCopy(boolean initiating) {
    side(initiating).copying.set(false);
  }

  /// Why the line has ended, or null.
  @Nullable String ended() {
    return end.get();
  }

  /// Ends the line. The first reason stays.
  void close(boolean initiating, String why) {
    end.compareAndSet(null, why);
    // Both flags are volatile: either the peer sees the end or we see its copy. A copy is bounded.
    AtomicBoolean peerCopies = side(!initiating).copying;
    while (peerCopies.get()) {
      Thread.onSpinWait();
    }
  }

  private Side side(boolean initiating) {
    return initiating ? first : second;
  }
}
