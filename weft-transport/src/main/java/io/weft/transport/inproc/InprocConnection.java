// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.region.RegionTable;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The state shared by two connected endpoints: a pipe in each direction, the handshake, and the
/// end. Each side copies between its memory and the peer's. `close` waits for the peer's copy in
/// progress, so that afterwards the peer does not access the closer's memory through this
/// connection.
final class InprocConnection {

  private static final class Side {
    final InprocPipe outgoing = new InprocPipe();
    final AtomicBoolean copying = new AtomicBoolean();
    // The handshake frame that the other side has not taken yet; the sides alternate.
    final AtomicReference<@Nullable ByteBuffer> said = new AtomicReference<>();
  }

  final InprocTransport initiator;
  private final Side first = new Side();
  private final Side second = new Side();
  private final AtomicReference<@Nullable String> end = new AtomicReference<>();
  private volatile @Nullable RegionTable responderTable;

  InprocConnection(InprocTransport initiator) {
    this.initiator = initiator;
  }

  /// Sends a frame of the handshake unless it is empty.
  void say(boolean initiating, ByteBuffer frame) {
    if (frame.hasRemaining()) {
      side(initiating).said.set(frame);
    }
  }

  /// Takes the frame that the other side has sent, or returns null.
  @Nullable ByteBuffer hear(boolean initiating) {
    return side(!initiating).said.getAndSet(null);
  }

  /// Returns whether `hear` would return a frame.
  boolean isAudible(boolean initiating) {
    return side(!initiating).said.get() != null;
  }

  /// Publishes the responder's regions; the responder calls it before it sends its acceptance.
  void accept(RegionTable table) {
    responderTable = table;
  }

  /// Returns the peer's regions. The responder's are known only after its `accept`.
  RegionTable remoteTable(boolean initiating) {
    RegionTable table = initiating ? responderTable : initiator.table();
    if (table == null) {
      throw new IllegalStateException("the line is not answered");
    }
    return table;
  }

  InprocPipe outgoing(boolean initiating) {
    return side(initiating).outgoing;
  }

  InprocPipe incoming(boolean initiating) {
    return side(!initiating).outgoing;
  }

  /// Begins a copy of bounded length; returns false if the line has ended.
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

  /// Returns the reason why the line has ended, or null.
  @Nullable String ended() {
    return end.get();
  }

  /// Ends the line. Only the first reason is kept.
  void close(boolean initiating, String why) {
    end.compareAndSet(null, why);
    // Both flags are volatile: either the peer sees the end or this side sees its copy. A copy is
    // bounded.
    AtomicBoolean peerCopies = side(!initiating).copying;
    while (peerCopies.get()) {
      Thread.onSpinWait();
    }
  }

  private Side side(boolean initiating) {
    return initiating ? first : second;
  }
}
