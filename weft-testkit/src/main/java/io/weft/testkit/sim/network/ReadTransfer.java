// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.transport.region.LocalRegion;
import java.lang.foreign.MemorySegment;

/// A remote read: the request travels to the peer, whose poll answers it with the bytes or a
/// refusal.
final class ReadTransfer extends SimTransfer {

  ReadTransfer(SimEndpoint from, Terms terms) {
    super(PacketKind.READ, from, terms);
  }

  @Override
  void tear(long nowNanos) {}

  @Override
  public void take() {
    SimEndpoint end = receiver();
    if (end.isClosed()) {
      return;
    }
    end.countReceived(wireBytes());
    LocalRegion source = end.transport().table().find(remoteKey);
    if (source == null || !source.contains(remoteOffset, length) || !source.visit()) {
      String why =
          source == null
              ? "the region is closed; ask the peer for its present regions"
              : "it lies outside " + source;
      end.transport().network().send(new Refusal(end, why));
      return;
    }
    byte[] bytes = source.segment().asSlice(remoteOffset, length).toArray(JAVA_BYTE);
    source.leave();
    end.transport().network().send(new Reply(end, bytes));
  }

  private final class Reply extends SimPacket {

    Reply(SimEndpoint server, byte[] bytes) {
      super(PacketKind.READ_REPLY, server, bytes);
    }

    @Override
    public void take() {
      if (!isCompleted()) {
        receiver().countReceived(wireBytes());
        MemorySegment.copy(data, 0, region.segment(), JAVA_BYTE, offset, data.length);
        ReadTransfer.this.from.freed(0);
        complete(null);
      }
    }
  }

  private final class Refusal extends SimPacket {

    private final String why;

    Refusal(SimEndpoint server, String why) {
      super(PacketKind.READ_REFUSED, server, new byte[0]);
      this.why = why;
    }

    @Override
    public void take() {
      if (!isCompleted()) {
        receiver().countReceived(wireBytes());
        ReadTransfer.this.from.freed(0);
        complete(refused(why));
      }
    }
  }
}
