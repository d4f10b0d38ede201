// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.testkit.sim.clock.ScheduledEvent;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Bytes that travel over one connection. They leave through the sender's port, reach the
/// receiver's port, pass it, and wait to be polled.
class SimPacket extends ScheduledEvent implements PendingArrival {

  /// The bytes of a frame's header, as over TCP (docs/protocol/tcp.md).
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

  /// The receiving end; null for the first packet of a connection until it has found its listener.
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

  /// Returns the bytes that pass the ports.
  long wireBytes() {
    return (long) HEADER_BYTES + data.length;
  }

  /// Returns whether the connection was cut before all bytes had been sent.
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

  /// Schedules the moment at which the packet has passed the receiver's port.
  void passesAt(long nanos) {
    atPort = true;
    reached();
    from.transport().network().events().at(nanos, this);
  }

  /// Handles the arrival of the first bytes at the receiver.
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
