// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.testkit.sim.clock.ScheduledEvent;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Bytes on their way over one connection: they leave through the sender's port, reach the
/// receiver's port, have passed it, and wait to be polled.
class SimPacket extends ScheduledEvent implements PendingArrival {

  /// Of every frame, as over TCP (docs/protocol/tcp.md).
  static final int HEADER_BYTES = 32;

  private static final byte[] NOTHING = {};

  enum PacketKind {
    HANDSHAKE,
    MESSAGE,
    WRITE,
    READ,
    READ_REPLY,
    READ_REFUSED,
    END,
    RESET
  }

  final PacketKind kind;
  final SimEndpoint from;
  byte[] data;

  /// Null for the first parcel of a connection until it has found its listener.
  @Nullable SimEndpoint to;

  SimLink link = SimLink.MEMORY;
  long startNanos;
  long leftNanos;
  private boolean atPort;

  SimPacket(PacketKind kind, SimEndpoint from, byte[] data) {
    this.kind = kind;
    this.from = from;
    this.to = from.peer();
    this.data = data;
  }

  static SimPacket empty(PacketKind kind, SimEndpoint from) {
    return new SimPacket(kind, from, NOTHING);
  }

  /// Bytes that pass the ports.
  long wireBytes() {
    return (long) HEADER_BYTES + data.length;
  }

  /// Whether the connection was cut before all of it had left.
  boolean isTorn() {
    return leftNanos > from.cutNanos() && kind != PacketKind.RESET && kind != PacketKind.END;
  }

  @Override
  protected void happen() {
    Network network = from.transport().network();
    if (atPort) {
      network.passed(this);
    } else {
      network.reached(this);
    }
  }

  /// At the receiver's port, which it has passed at this moment.
  void passesAt(long nanos) {
    atPort = true;
    reached();
    from.transport().network().timeline().at(nanos, this);
  }

  /// Its first bytes are at the receiver.
  void reached() {}

  SimEndpoint receiver() {
    return Objects.requireNonNull(to);
  }

  @Override
  public void take() {
    SimEndpoint end = receiver();
    if (end.isClosed()) {
      return;
    }
    end.countReceived(wireBytes());
    switch (kind) {
      case HANDSHAKE -> end.handshake(data);
      case MESSAGE -> {
        from.freed(wireBytes());
        end.transport().arrived(end, data);
      }
      case END -> end.lost("it closed the connection");
      case RESET -> end.lost("connection reset by peer");
      case WRITE, READ, READ_REPLY, READ_REFUSED -> throw new IllegalStateException("" + kind);
    }
  }
}
