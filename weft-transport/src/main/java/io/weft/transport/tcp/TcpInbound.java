// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import io.weft.transport.region.RegionViews;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// The receiving half of one connection. Headers and messages pass through a small buffer. A
/// payload is read from the socket directly into its region, together with the header that follows
/// it.
final class TcpInbound {

  private static final int BUFFER_BYTES = 1 << 17;
  private static final int COMPACT_FROM = 1 << 15;
  private static final int READ_BYTES = RegionViews.MAX_BYTES;

  /// The most that one endpoint reads from its socket in one duty cycle, for fairness.
  private static final int BYTES_PER_CYCLE = 4 << 20;

  /// After a payload of at least this length, headers are read in small units, so that the next
  /// payload bypasses the buffer.
  private static final int BULK_BYTES = 1 << 15;

  private static final int BULK_BITE = 1 << 12;
  private static final int IDLE_BITE = 1 << 14;
  private static final int MAX_FAULT_TEXT = 256;

  /// The receiver of frames. Callbacks may close the endpoint, which `isOpen` then reports.
  interface FrameListener {
    boolean isOpen();

    void message(MemorySegment from, long offset, int bytes);

    void notified(int immediate);

    void readWanted(int key, int context, long offset, long length) throws ProtocolFault;

    void readRefused(PostedReads.Read read, int reason);

    void readDone(PostedReads.Read read);

    void ended(String why);
  }

  private final RegionTable table;
  private final PostedReads reads;
  private final FrameListener listener;
  private final int maxMessageBytes;
  private final MemorySegment memory = Arena.ofAuto().allocate(BUFFER_BYTES, 64);
  private final ByteBuffer buffer = memory.asByteBuffer();
  private final ByteBuffer[] pair = {buffer, buffer};
  private int start;
  private int end;
  private boolean bulk;

  /// True if a frame was delivered in this duty cycle. Its answer must not wait for a long payload
  /// that arrives after it, because two ranks would then write sequentially instead of
  /// concurrently.
  private boolean told;

  // The payload that is arriving; `remaining` is 0 between frames.
  private @Nullable LocalRegion into;
  private PostedReads.@Nullable Read read;
  private long offset;
  private long remaining;
  private int padding;
  private int immediate;

  /// True if the region of the arriving payload is closed; the payload is discarded.
  private boolean discarding;

  /// True if the memory of an open region was freed; the payload is discarded, but the sink is
  /// notified.
  private boolean vanished;

  TcpInbound(RegionTable table, PostedReads reads, int maxMessageBytes, FrameListener listener) {
    this.table = table;
    this.reads = reads;
    this.maxMessageBytes = maxMessageBytes;
    this.listener = listener;
  }

  /// Reads until the socket is empty or the limit of this duty cycle is reached, and delivers
  /// complete frames. Returns the bytes read, or -1 at the end of the stream.
  ///
  /// Hot path.
  long receive(ScatteringByteChannel channel) throws IOException {
    long total = 0;
    while (total < BYTES_PER_CYCLE && listener.isOpen()) {
      told = false;
      boolean gone = vanished;
      int room;
      long got;
      LocalRegion region = remaining > 0 ? arriving() : null;
      if (region != null) {
        int wanted = (int) Math.min(remaining, READ_BYTES);
        boolean last = wanted == remaining;
        room = wanted + (last ? BULK_BITE : 0);
        got = receivePayload(channel, region, wanted, last);
      } else {
        makeRoom();
        room = Math.min(BUFFER_BYTES - end, bite());
        got = channel.read(buffer.limit(end + room).position(end));
        end += (int) Math.max(got, 0);
      }
      if (got < 0) {
        return -1;
      }
      total += got;
      if (got > 0) {
        parse();
      }
      if ((got < room && gone == vanished) || (told && remaining > 0)) {
        break;
      }
    }
    return total;
  }

  private long receivePayload(
      ScatteringByteChannel channel, LocalRegion region, int wanted, boolean last)
      throws IOException {
    long got;
    try {
      ByteBuffer view = region.views().take(offset, wanted);
      if (last) {
        // The buffer is empty while a payload is arriving.
        start = 0;
        end = 0;
        pair[0] = view;
        pair[1] = buffer.limit(BULK_BITE).position(0);
        got = channel.read(pair, 0, 2);
      } else {
        got = channel.read(view);
      }
    } catch (IllegalStateException freed) {
      // The arena was closed during the operation, which its owner learns when it is notified.
      vanished = true;
      return 0;
    } finally {
      region.views().giveBack();
      region.leave();
    }
    if (got > 0) {
      long landed = Math.min(got, wanted);
      end += (int) (got - landed);
      landed(landed);
    }
    return got;
  }

  /// Returns the region of the arriving payload after a `visit`; null if it is closed or freed.
  private @Nullable LocalRegion arriving() {
    LocalRegion region = into;
    if (vanished) {
      return null;
    }
    if (discarding || region == null || !region.visit()) {
      discarding = true;
      return null;
    }
    if (!region.segment().scope().isAlive()) {
      vanished = true;
      region.leave();
      return null;
    }
    return region;
  }

  private void landed(long bytes) {
    offset += bytes;
    remaining -= bytes;
    if (remaining == 0) {
      PostedReads.Read finished = read;
      boolean discarded = discarding;
      discarding = false;
      vanished = false;
      into = null;
      read = null;
      if (discarded) {
        return;
      }
      told = true;
      if (finished == null) {
        listener.notified(immediate);
      } else {
        listener.readDone(finished);
      }
    }
  }

  /// Returns the read size between payloads. It covers the rest of a partial message; otherwise it
  /// is small, because a long payload that follows should bypass the buffer.
  private int bite() {
    if (start < end) {
      return BUFFER_BYTES;
    }
    return bulk ? BULK_BITE : IDLE_BITE;
  }

  private void makeRoom() {
    if (start == end) {
      start = 0;
      end = 0;
    } else if (start >= COMPACT_FROM) {
      MemorySegment.copy(memory, start, memory, 0, end - start);
      end -= start;
      start = 0;
    }
  }

  private void parse() throws IOException {
    while (listener.isOpen()) {
      if (remaining > 0) {
        int have = (int) Math.min(remaining, end - start);
        if (have == 0) {
          return;
        }
        LocalRegion region = arriving();
        if (region != null) {
          copy(region, have);
        }
        start += have;
        landed(have);
      } else if (padding > 0) {
        int have = Math.min(padding, end - start);
        if (have == 0) {
          return;
        }
        start += have;
        padding -= have;
      } else if (end - start < TcpFrame.BYTES || !frame()) {
        return;
      }
    }
  }

  private void copy(LocalRegion region, int bytes) {
    try {
      MemorySegment.copy(memory, start, region.segment(), offset, bytes);
    } catch (IllegalStateException freed) {
      vanished = true;
    } finally {
      region.leave();
    }
  }

  /// Consumes the frame at `start`; returns false if the frame is incomplete.
  private boolean frame() throws IOException {
    if (!TcpFrame.hasMagic(memory, start)) {
      throw new ProtocolFault("a frame without the magic number or of another version");
    }
    long length = TcpFrame.length(memory, start);
    byte kind = TcpFrame.kind(memory, start);
    switch (kind) {
      case TcpFrame.MESSAGE -> {
        bulk = false;
        return message(length, maxMessageBytes, kind);
      }
      case TcpFrame.FAULT -> {
        bulk = false;
        return message(length, MAX_FAULT_TEXT, kind);
      }
      case TcpFrame.WRITE -> write(length);
      case TcpFrame.READ ->
          listener.readWanted(
              TcpFrame.key(memory, start),
              TcpFrame.context(memory, start),
              TcpFrame.offset(memory, start),
              length);
      case TcpFrame.READ_DATA -> readData(length);
      case TcpFrame.READ_REFUSED ->
          listener.readRefused(posted(), TcpFrame.immediate(memory, start));
      case TcpFrame.NOTHING -> {}
      case TcpFrame.BYE -> listener.ended("it closed its endpoint");
      default -> throw new ProtocolFault("a frame of unknown kind " + kind);
    }
    if (kind != TcpFrame.WRITE && kind != TcpFrame.READ_DATA) {
      start += TcpFrame.BYTES;
    }
    return true;
  }

  private boolean message(long length, int max, byte kind) throws ProtocolFault {
    if (length < 0 || length > max) {
      throw new ProtocolFault("a message of " + length + " bytes; at most " + max + " are allowed");
    }
    int bytes = (int) length;
    int padded = TcpFrame.BYTES + bytes + TcpFrame.padding(bytes);
    if (end - start < padded) {
      return false;
    }
    int from = start + TcpFrame.BYTES;
    start += padded;
    told = true;
    if (kind == TcpFrame.MESSAGE) {
      listener.message(memory, from, bytes);
    } else {
      byte[] text = new byte[bytes];
      buffer.get(from, text);
      String said = new String(text, StandardCharsets.US_ASCII).replaceAll("[^ -~]", "?");
      listener.ended("it ended the connection because it received " + said);
    }
    return true;
  }

  private void write(long length) throws ProtocolFault {
    int key = TcpFrame.key(memory, start);
    long at = TcpFrame.offset(memory, start);
    LocalRegion region = table.find(key);
    if (region == null && length >= 0 && table.wasOpen(key)) {
      discarding = true;
      begin(null, null, 0, length);
      return;
    }
    if (region == null) {
      throw new ProtocolFault(
          "a write of "
              + length
              + " bytes to region "
              + Integer.toHexString(key)
              + ", which was never open here");
    }
    if (!region.takes(at, length)) {
      throw new ProtocolFault(
          "a write of "
              + length
              + " bytes at "
              + at
              + (region.contains(at, length) ? ", to read-only " : ", outside ")
              + region);
    }
    immediate = TcpFrame.immediate(memory, start);
    begin(region, null, at, length);
  }

  private void readData(long length) throws ProtocolFault {
    PostedReads.Read posted = posted();
    if (length != posted.bytes()) {
      throw new ProtocolFault(
          "an answer of " + length + " bytes to a read of " + posted.bytes() + " bytes");
    }
    begin(posted.into(), posted, posted.offset(), length);
  }

  private PostedReads.Read posted() throws ProtocolFault {
    PostedReads.Read posted = reads.find(TcpFrame.context(memory, start));
    if (posted == null || posted == read) {
      throw new ProtocolFault("an answer to a read that is not posted");
    }
    return posted;
  }

  private void begin(
      @Nullable LocalRegion region, PostedReads.@Nullable Read answered, long at, long length) {
    start += TcpFrame.BYTES;
    bulk = length >= BULK_BYTES;
    into = region;
    read = answered;
    offset = at;
    remaining = length;
    padding = TcpFrame.padding(length);
    if (length == 0) {
      landed(0);
    }
  }
}
