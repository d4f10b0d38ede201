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

/// The send queue of one connection, in posting order. Headers and small payloads are in the
/// staging ring; large payloads are sent from their regions. A flush passes all ready data to the
/// kernel in gathering calls with at most 256 KiB of large payload per call. Larger calls evict the
/// kernel's buffers from the cache and reduce the bandwidth to less than half.
final class TcpOutbound {

  /// The largest payload that is staged with its header, which is cheaper than another gather
  /// buffer.
  static final int STAGED_PAYLOAD_BYTES = 4096;

  static final int MAX_IN_FLIGHT = 1024;
  private static final int STAGING_BYTES = 1 << 17;
  private static final int FLUSH_BYTES = 4 << 20;

  private static final int MAX_FAULT_TEXT = 256;
  private static final MemorySegment ZEROS = Arena.ofAuto().allocate(TcpFrame.ALIGNMENT);

  private final RegionTable table;
  private final long flushBytes;
  private final ByteRing ring = new ByteRing(STAGING_BYTES);
  private final MemorySegment staging = Arena.ofAuto().allocate(STAGING_BYTES, 64);
  private final Gather gather = new Gather(ring, staging);
  private final TransferRing transfers = new TransferRing(4 * MAX_IN_FLIGHT);
  private final ServedReads served = new ServedReads(MAX_IN_FLIGHT);
  private int own;
  private int serving;
  private boolean blocked;

  /// The count of bytes of all frames since the handshake.
  private long position;

  private boolean flushing;
  private boolean ended;

  /// @param flushBytes the length of staged messages that is sent before more are staged
  TcpOutbound(RegionTable table, long flushBytes) {
    this.table = table;
    this.flushBytes = flushBytes;
  }

  /// Returns whether there are bytes to send or transfers to complete.
  boolean isPending() {
    return !ring.isEmpty() || !transfers.isEmpty() || !served.isEmpty();
  }

  /// Returns whether the kernel accepted less than offered and has not reported the socket
  /// writable.
  boolean isBlocked() {
    return blocked;
  }

  /// Records that the kernel did not accept all bytes.
  void block() {
    blocked = true;
  }

  void unblock() {
    blocked = false;
  }

  /// Returns whether the staged bytes should be sent before more are staged: there are at least
  /// `flushBytes`, and no completion waits for them.
  ///
  /// Hot path.
  boolean shouldLeave() {
    return ring.head() - ring.tail() >= flushBytes
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

  /// Copies a short payload to its place after the header. Returns false if its memory is freed;
  /// the frame then becomes empty frames.
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

  /// Requests a read from the peer; returns false if the request does not fit.
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

  /// Queues the failure of an operation that this side refuses, in posting order.
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

  /// Queues the answer to a peer's read. Returns false if the peer exceeds its limit of reads.
  boolean serve(int key, int context, long offset, long length) {
    return served.add(key, context, offset, length);
  }

  /// Reserves a frame: its header, the staged payload, and the zero padding, which this method
  /// writes. Returns -1 if it does not fit.
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

  /// Aligns the position after the next `ahead` bytes to a multiple of 64 in the stream, with an
  /// empty frame (docs/adr/0043); returns false if that frame does not fit.
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

  /// Sends until no data is left, the kernel accepts no more or the limit of this duty cycle is
  /// reached. Returns the bytes sent; completions fire inside. A flush from inside a completion
  /// does nothing.
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

  /// Answers the first read; returns false if the answer does not fit now.
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

  /// Accounts for `sent` bytes and settles the transfers that they complete; returns whether any
  /// did.
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

  /// Adjusts the count of this side's operations by a read that was posted or has ended.
  void countOwn(int change) {
    own += change;
  }

  /// Queues a last frame if the stream is between frames; returns whether it did.
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

  /// Fails all posted writes; afterwards nothing is sent.
  void fail(TransportException cause) {
    ended = true;
    for (TransferRing.Transfer next = transfers.peek(0); next != null; next = transfers.peek(0)) {
      transfers.pop();
      TransportException error = next.error;
      settle(next, error == null ? cause : error);
    }
  }
}
