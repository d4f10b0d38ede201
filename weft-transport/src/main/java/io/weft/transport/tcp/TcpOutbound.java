// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.Completion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import io.weft.transport.ring.ByteRing;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.GatheringByteChannel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// What waits to be sent on one connection, in posting order: headers and small payloads lie in the
/// staging ring, large payloads stay where they are and are sent from there. A flush hands all that
/// is ready to the kernel in one gathering call, with at most 256 KiB of large payload per call:
/// larger calls let the kernel's buffers grow cold and more than halve the bandwidth.
final class TcpOutbound {

  /// Payloads up to this are staged with their header: cheaper than one more piece to gather.
  static final int STAGED_PAYLOAD_BYTES = 4096;

  static final int MAX_IN_FLIGHT = 1024;
  private static final int STAGING_BYTES = 1 << 17;
  private static final int FLUSH_BYTES = 4 << 20;

  /// So much of a stream of messages leaves before more is staged (docs/adr/0058): the peer works
  /// on it meanwhile.
  private static final int AHEAD_BYTES = 12 << 10;

  private static final int MAX_FAULT_TEXT = 256;
  private static final MemorySegment ZEROS = Arena.ofAuto().allocate(TcpFrame.ALIGNMENT);

  private final RegionTable table;
  private final ByteRing ring = new ByteRing(STAGING_BYTES);
  private final MemorySegment staging = Arena.ofAuto().allocate(STAGING_BYTES, 64);
  private final Gather gather = new Gather(ring, staging);
  private final TransferRing transfers = new TransferRing(4 * MAX_IN_FLIGHT);
  private final ServedReads served = new ServedReads(MAX_IN_FLIGHT);
  private int own;
  private int serving;
  private boolean blocked;

  /// Bytes of all frames since the handshake.
  private long position;

  private boolean flushing;
  private boolean ended;

  TcpOutbound(RegionTable table) {
    this.table = table;
  }

  /// Whether there is something to send or to complete.
  boolean isPending() {
    return !ring.isEmpty() || !transfers.isEmpty() || !served.isEmpty();
  }

  /// Whether the kernel took less than it was offered; until it says that it is writable.
  boolean isBlocked() {
    return blocked;
  }

  /// The kernel did not take what was sent before.
  void block() {
    blocked = true;
  }

  void unblock() {
    blocked = false;
  }

  /// Whether what is staged should leave before more is: enough of it, and nothing that a
  /// completion waits for.
  ///
  /// Hot path.
  boolean shouldLeave() {
    return ring.head() - ring.tail() >= AHEAD_BYTES
        && !blocked
        && !flushing
        && transfers.isEmpty()
        && served.isEmpty();
  }

  /// Hot path.
  boolean message(MemorySegment message) {
    int bytes = (int) message.byteSize();
    if (bytes > STAGED_PAYLOAD_BYTES && !align(TcpFrame.BYTES)) {
      return false;
    }
    int at = reserve(bytes, bytes);
    if (at < 0) {
      return false;
    }
    TcpFrame.put(staging, at, TcpFrame.MESSAGE, 0, 0, 0, 0, bytes);
    MemorySegment.copy(message, 0, staging, at + TcpFrame.BYTES, bytes);
    return true;
  }

  /// Hot path.
  boolean write(
      LocalRegion from,
      long offset,
      long bytes,
      int key,
      long remoteOffset,
      int immediate,
      Completion done) {
    boolean staged = bytes <= STAGED_PAYLOAD_BYTES;
    if (!from.segment().scope().isAlive()) {
      return refuse(done, freed(bytes));
    }
    if (own == MAX_IN_FLIGHT || (!staged && !align(TcpFrame.BYTES))) {
      return false;
    }
    int at = reserve(staged ? (int) bytes : 0, bytes);
    if (at < 0) {
      return false;
    }
    TcpFrame.put(staging, at, TcpFrame.WRITE, immediate, 0, key, remoteOffset, bytes);
    if (staged && !stage(from, offset, at, bytes)) {
      return refuse(done, freed(bytes));
    }
    TransferRing.Transfer transfer = append(from, offset, staged ? 0 : bytes);
    transfer.at -= TcpFrame.padding(bytes);
    transfer.own = true;
    transfer.done = done;
    own++;
    return true;
  }

  /// Copies a short payload behind its header. False where its memory is freed: then the frame is
  /// made several that say nothing.
  ///
  /// Hot path.
  private boolean stage(LocalRegion from, long offset, int at, long bytes) {
    try {
      MemorySegment.copy(from.segment(), offset, staging, at + TcpFrame.BYTES, bytes);
      return true;
    } catch (IllegalStateException freed) {
      for (int i = 0; i < TcpFrame.BYTES + bytes; i += TcpFrame.BYTES) {
        TcpFrame.put(staging, at + i, TcpFrame.NOTHING, 0, 0, 0, 0, 0);
      }
      return false;
    }
  }

  private static TransportException freed(long bytes) {
    return new TransportException.Refused(
        "write of " + bytes + " bytes refused: its arena is closed",
        new IllegalStateException("Already closed"));
  }

  /// Hot path.
  boolean canRead() {
    return own < MAX_IN_FLIGHT;
  }

  /// Asks the peer for a read; false if there is no room.
  ///
  /// Hot path.
  boolean read(int context, int key, long offset, long bytes) {
    int at = ring.reserve(TcpFrame.BYTES);
    if (at < 0) {
      return false;
    }
    TcpFrame.put(staging, at, TcpFrame.READ, 0, context, key, offset, bytes);
    position += TcpFrame.BYTES;
    return true;
  }

  /// Queues the failure of an operation that is refused here, in its turn.
  boolean refuse(Completion done, TransportException error) {
    if (own == MAX_IN_FLIGHT) {
      return false;
    }
    TransferRing.Transfer transfer = append(null, 0, 0);
    transfer.own = true;
    transfer.done = done;
    transfer.error = error;
    own++;
    return true;
  }

  /// Queues the answer to a peer's read. False if it asks for more than it may.
  boolean serve(int key, int context, long offset, long length) {
    return served.add(key, context, offset, length);
  }

  /// Room for a frame: its header, what of the payload is staged, and the zeros behind the payload,
  /// which are written here. -1 if there is none.
  ///
  /// Hot path.
  private int reserve(int stagedBytes, long payloadBytes) {
    int padding = TcpFrame.padding(payloadBytes);
    int at = ring.reserve(TcpFrame.BYTES + stagedBytes + padding);
    if (at >= 0 && padding > 0) {
      MemorySegment.copy(ZEROS, 0, staging, at + TcpFrame.BYTES + stagedBytes, padding);
    }
    if (at >= 0) {
      position += TcpFrame.BYTES + payloadBytes + padding;
    }
    return at;
  }

  /// Sees to it that what follows `ahead` more bytes begins at a multiple of 64 in the stream, by a
  /// frame that says nothing (docs/adr/0043); false if there is no room for it.
  ///
  /// Hot path.
  private boolean align(int ahead) {
    if (((position + ahead) & (TcpFrame.CACHE_LINE - 1)) == 0) {
      return true;
    }
    int at = reserve(0, 0);
    if (at < 0) {
      return false;
    }
    TcpFrame.put(staging, at, TcpFrame.NOTHING, 0, 0, 0, 0, 0);
    return true;
  }

  private TransferRing.Transfer append(@Nullable LocalRegion region, long offset, long bytes) {
    TransferRing.Transfer transfer = transfers.add();
    transfer.at = ring.head();
    transfer.region = region;
    transfer.offset = offset;
    transfer.remaining = bytes;
    transfer.own = false;
    return transfer;
  }

  /// Sends until nothing is left, the kernel is full or this turn's share is used up. Returns the
  /// bytes sent; completions fire inside. A flush from inside a completion does nothing.
  ///
  /// Hot path.
  long flush(GatheringByteChannel channel) throws IOException {
    if (flushing) {
      return 0;
    }
    flushing = true;
    try {
      return flushAll(channel);
    } finally {
      flushing = false;
    }
  }

  private long flushAll(GatheringByteChannel channel) throws IOException {
    long total = 0;
    while (!ended && total < FLUSH_BYTES) {
      answerReads();
      align(0);
      gather.collect(transfers);
      long planned = gather.planned();
      long sent = 0;
      if (planned > 0) {
        sent = gather.send(channel);
        total += sent;
      } else {
        gather.checkRegion();
      }
      boolean settled = advance(sent);
      if (sent < planned) {
        blocked = true;
        break;
      }
      if (planned == 0 && !settled) {
        break;
      }
    }
    return total;
  }

  private void answerReads() {
    while (!served.isEmpty() && serving < MAX_IN_FLIGHT && answerRead()) {
      served.pop();
    }
  }

  /// Answers the first read; false if there is no room now.
  private boolean answerRead() {
    long bytes = served.length();
    LocalRegion region = table.find(served.key());
    if (region == null || !region.visit()) {
      return answer(TcpFrame.READ_REFUSED, TcpFrame.STALE_KEY, 0, 0) >= 0;
    }
    try {
      if (!region.contains(served.offset(), bytes)) {
        return answer(TcpFrame.READ_REFUSED, TcpFrame.OUT_OF_BOUNDS, 0, 0) >= 0;
      }
      boolean staged = bytes <= STAGED_PAYLOAD_BYTES;
      if (!staged && !align(TcpFrame.BYTES)) {
        return false;
      }
      int at = answer(TcpFrame.READ_DATA, 0, staged ? (int) bytes : 0, bytes);
      if (at < 0) {
        return false;
      }
      if (!staged) {
        append(region, served.offset(), bytes).at -= TcpFrame.padding(bytes);
        serving++;
      } else if (!stage(region, served.offset(), at, bytes)) {
        refuseRead(at);
      }
      return true;
    } finally {
      region.leave();
    }
  }

  private int answer(byte kind, int refusal, int stagedBytes, long payloadBytes) {
    int at = reserve(stagedBytes, payloadBytes);
    if (at >= 0) {
      TcpFrame.put(staging, at, kind, refusal, served.context(), served.key(), 0, payloadBytes);
    }
    return at;
  }

  private void refuseRead(int at) {
    int reason = TcpFrame.STALE_KEY;
    TcpFrame.put(staging, at, TcpFrame.READ_REFUSED, reason, served.context(), served.key(), 0, 0);
  }

  /// Accounts for `sent` bytes and settles every transfer that they complete; whether any was.
  private boolean advance(long sent) {
    long left = sent;
    boolean settled = false;
    while (!ended) {
      TransferRing.Transfer next = transfers.peek(0);
      long stop = next == null ? ring.head() : next.at;
      if (ring.tail() < stop) {
        if (left == 0) {
          break;
        }
        long from = ring.skipGap(ring.tail());
        long step = Math.min(left, ring.runEnd(from, stop) - from);
        ring.release(from + step);
        left -= step;
        continue;
      }
      if (next == null) {
        break;
      }
      long step = Math.min(left, next.remaining);
      next.remaining -= step;
      next.offset += step;
      left -= step;
      if (next.remaining > 0) {
        break;
      }
      transfers.pop();
      settle(next, next.error);
      settled = true;
    }
    return settled;
  }

  private void settle(TransferRing.Transfer transfer, @Nullable TransportException error) {
    LocalRegion region = transfer.region;
    Completion done = transfer.done;
    boolean mine = transfer.own;
    transfer.clear();
    if (!mine) {
      serving--;
      return;
    }
    own--;
    if (region != null) {
      region.settle();
    }
    if (done != null) {
      done.complete(error);
    }
  }

  /// A read of ours is posted or over.
  void countOwn(int change) {
    own += change;
  }

  /// Queues a last frame if the stream is at a point where the peer can read it; whether it was.
  boolean last(byte kind, String text) {
    if (flushing || !transfers.isEmpty()) {
      return false;
    }
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    int length = Math.min(bytes.length, MAX_FAULT_TEXT);
    int at = reserve(length, length);
    if (at < 0) {
      return false;
    }
    TcpFrame.put(staging, at, kind, 0, 0, 0, 0, length);
    MemorySegment.copy(bytes, 0, staging, ValueLayout.JAVA_BYTE, at + TcpFrame.BYTES, length);
    return true;
  }

  /// Fails all posted writes; nothing is sent any more.
  void fail(TransportException cause) {
    ended = true;
    for (TransferRing.Transfer next = transfers.peek(0); next != null; next = transfers.peek(0)) {
      transfers.pop();
      TransportException error = next.error;
      settle(next, error == null ? cause : error);
    }
  }
}
