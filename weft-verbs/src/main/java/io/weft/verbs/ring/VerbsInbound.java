// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import io.weft.transport.ring.MessageBuffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Receives frames of one peer from the receive ring. Each frame is read once and checked before
/// use, and consumed before the listener is called.
public final class VerbsInbound {

  private final Carrier carrier;
  private final VerbsOutbound outbound;
  private final Grants grants;
  private final RegionTable table;
  private final MessageBuffer messages;
  private final RingListener listener;
  private long bytes;

  /// The receiver of frames. Its callbacks may end the carrier.
  public interface RingListener {
    /// Called for a message, which is valid only during the call.
    void message(MemorySegment message);

    /// Called when all bytes of a write are in its region.
    void notified(int immediate);

    /// Called when the next read is answered; `refused` is true if the peer does not have the
    /// memory.
    void readDone(boolean refused);
  }

  /// Creates the receiver for this carrier.
  ///
  /// @param outbound the send queue, which handles answers, offers and the peer's reads
  /// @param grants the blocks offered to the peer
  /// @param table finds regions by key
  /// @param messages buffer of a message during the listener's callback
  public VerbsInbound(
      Carrier carrier,
      VerbsOutbound outbound,
      Grants grants,
      RegionTable table,
      MessageBuffer messages,
      RingListener listener) {
    this.carrier = carrier;
    this.outbound = outbound;
    this.grants = grants;
    this.table = table;
    this.messages = messages;
    this.listener = listener;
  }

  /// Returns the received bytes of payload and headers.
  public long bytes() {
    return bytes + outbound.fetchedBytes();
  }

  /// Handles a receive with this immediate value. Throws `VerbsFault` for a protocol violation,
  /// after which the connection must end, and `VerbsException` if the device refuses to post.
  ///
  /// Hot path.
  public void take(int immediate) throws VerbsFault {
    if (immediate < 0) {
      carrier.credit(immediate);
      return;
    }
    int index = carrier.indexOf(immediate);
    MemorySegment ring = carrier.receiveRing();
    int kind = ring.get(VerbsFrame.INT, index + VerbsFrame.KIND);
    int payload = ring.get(VerbsFrame.INT, index + VerbsFrame.PAYLOAD);
    int key = ring.get(VerbsFrame.INT, index + VerbsFrame.KEY);
    int value = ring.get(VerbsFrame.INT, index + VerbsFrame.IMMEDIATE);
    long offset = ring.get(VerbsFrame.LONG, index + VerbsFrame.OFFSET);
    long length = ring.get(VerbsFrame.LONG, index + VerbsFrame.LENGTH);
    boolean placed = kind == VerbsFrame.PLACED || kind == VerbsFrame.LAST_PLACED;
    int inRing = placed ? 0 : payload;
    if (payload < 0
        || payload > (placed ? VerbsFrame.MAX_PLACED : VerbsFrame.MAX_PAYLOAD)
        || index + (long) VerbsFrame.HEADER + inRing > ring.byteSize()) {
      throw new VerbsFault("a frame of " + payload + " bytes at " + index + " of its ring");
    }
    bytes += VerbsFrame.HEADER + payload;
    long from = (long) index + VerbsFrame.HEADER;
    switch (kind) {
      case VerbsFrame.MESSAGE -> {
        MemorySegment message = messages.copy(ring, from, payload);
        carrier.consumed(payload);
        listener.message(message);
      }
      case VerbsFrame.WRITE -> {
        boolean unused = land(key, offset, from, payload);
        carrier.consumed(payload);
      }
      case VerbsFrame.LAST -> {
        boolean landed = land(key, offset, from, payload);
        carrier.consumed(payload);
        if (landed) {
          listener.notified(value);
        }
      }
      case VerbsFrame.PLACED -> {
        boolean unused = isOpen(key, offset, payload);
        carrier.consumed(0);
      }
      case VerbsFrame.LAST_PLACED -> {
        boolean landed = isOpen(key, offset, payload);
        carrier.consumed(0);
        if (landed) {
          listener.notified(value);
        }
      }
      case VerbsFrame.OFFER -> {
        outbound.offers().add(new PeerGrant(offset, length, key));
        carrier.consumed(payload);
      }
      case VerbsFrame.WITHDRAW -> {
        outbound.withdraw(key);
        carrier.consumed(payload);
      }
      case VerbsFrame.WITHDRAWN -> {
        grants.withdrawn(key);
        carrier.consumed(payload);
      }
      case VerbsFrame.CLOSED -> {
        outbound.closed(key);
        carrier.consumed(payload);
      }
      case VerbsFrame.LEFT -> {
        grants.left(key);
        carrier.consumed(payload);
      }
      case VerbsFrame.READ -> {
        if (offset < 0 || length < 0) {
          throw new VerbsFault("a read of " + length + " bytes at " + offset);
        }
        outbound.serve(key, offset, length);
        carrier.consumed(payload);
      }
      case VerbsFrame.ANSWER -> answer(from, payload, length);
      case VerbsFrame.REFUSAL -> {
        VerbsOperation op = due(length);
        carrier.consumed(payload);
        op.moved = 0;
        listener.readDone(true);
      }
      default -> throw new VerbsFault("a frame of unknown kind " + kind);
    }
  }

  /// Returns the open region of a part of a write; null if it has been closed.
  private @Nullable LocalRegion target(int key, long offset, int payload) throws VerbsFault {
    LocalRegion region = table.find(key);
    if (region == null) {
      if (table.wasOpen(key)) {
        return null;
      }
      throw new VerbsFault(
          "a write to region " + Integer.toHexString(key) + ", which was never open here");
    }
    if (!region.takes(offset, payload)) {
      throw new VerbsFault(
          "a write of " + payload + " bytes at " + offset + ", outside of " + region);
    }
    return region;
  }

  private boolean isOpen(int key, long offset, int payload) throws VerbsFault {
    return target(key, offset, payload) != null;
  }

  /// Copies a part of a write into its region; returns false if the region is closed.
  private boolean land(int key, long offset, long from, int payload) throws VerbsFault {
    LocalRegion region = target(key, offset, payload);
    if (region == null || !region.visit()) {
      return false;
    }
    try {
      copy(from, region, offset, payload);
    } finally {
      region.leave();
    }
    return true;
  }

  /// Copies a payload. The owner of a closed arena learns of it when it is notified.
  private void copy(long from, LocalRegion into, long offset, int payload) {
    try {
      MemorySegment.copy(carrier.receiveRing(), from, into.segment(), offset, payload);
    } catch (IllegalStateException freed) {
      // The payload is discarded.
    }
  }

  private VerbsOperation due(long length) throws VerbsFault {
    @Nullable VerbsOperation op = outbound.nextAnswered();
    if (op == null || op.bytes != length) {
      throw new VerbsFault("an answer to a read of " + length + " bytes that is not posted");
    }
    return op;
  }

  private void answer(long from, int payload, long length) throws VerbsFault {
    VerbsOperation op = due(length);
    if (payload > op.bytes - op.moved) {
      throw new VerbsFault(
          payload + " bytes of an answer to a read; " + (op.bytes - op.moved) + " are due");
    }
    copy(from, op.own(), op.offset + op.moved, payload);
    op.moved += payload;
    carrier.consumed(payload);
    if (op.moved == op.bytes) {
      listener.readDone(false);
    }
  }
}
