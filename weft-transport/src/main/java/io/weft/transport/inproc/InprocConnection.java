// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.region.RegionTable;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// What two connected endpoints share: a pipe in each direction, the handshake, and the end. A side
/// copies between its own and the peer's memory by itself; `close` waits for a copy that is under
/// way, so that afterwards nobody touches the closer's memory through this line.
final class InprocConnection {

  private static final class Side {
    final InprocPipe outgoing = new InprocPipe();
    final AtomicBoolean copying = new AtomicBoolean();
    // The handshake's frame that the other side has not taken; sides take turns.
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

  /// Says something of the handshake, if there is something to say.
  void say(boolean initiating, ByteBuffer frame) {
    if (frame.hasRemaining()) {
      side(initiating).said.set(frame);
    }
  }

  /// Takes what the other side has said, or null.
  @Nullable ByteBuffer hear(boolean initiating) {
    return side(!initiating).said.getAndSet(null);
  }

  /// Whether `hear` would hear something.
  boolean isAudible(boolean initiating) {
    return side(!initiating).said.get() != null;
  }

  /// The responder's regions, before it says that it accepts.
  void accept(RegionTable table) {
    responderTable = table;
  }

  /// The peer's regions, once the line is answered.
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
