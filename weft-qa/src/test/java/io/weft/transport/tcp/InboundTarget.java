// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.transport.Completion;
import io.weft.transport.MemoryRegion;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.util.Arrays;
import java.util.List;

/// The frames of a proved but broken peer: both halves of a connection process these bytes. The
/// first byte is the number of bytes that arrive at a time. There are two open regions, a closed
/// one, and two reads in flight.
public final class InboundTarget implements FuzzTarget {

  private static final int GUARD_BYTES = 64;
  private static final int OPEN_BYTES = 1000;
  private static final int LARGE_BYTES = 1 << 16;
  private static final int MAX_MESSAGE_BYTES = 1 << 16;

  // The first keys of a table.
  private static final int OPEN = 0x10000;
  private static final int LARGE = 0x10001;
  private static final int CLOSED = 0x10002;
  private static final int FIRST_READ = 1 << 12;

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public InboundTarget() {}

  @Override
  public String name() {
    return "inbound";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        input(
            255,
            frame(TcpFrame.MESSAGE, 0, 0, 0, 0, 3),
            padded((byte) 1, (byte) 2, (byte) 3),
            frame(TcpFrame.BYE)),
        input(
            40,
            frame(TcpFrame.WRITE, 9, 0, OPEN, 100, 50),
            padded(new byte[50]),
            frame(TcpFrame.BYE)),
        input(
            255,
            frame(TcpFrame.WRITE, 9, 0, CLOSED, 0, 60),
            padded(new byte[60]),
            frame(TcpFrame.BYE)),
        input(1, frame(TcpFrame.WRITE, 7, 0, LARGE, 0, 8), padded(new byte[8])),
        input(255, frame(TcpFrame.READ, 0, 5, LARGE, 0, LARGE_BYTES), frame(TcpFrame.BYE)),
        input(
            255, frame(TcpFrame.READ, 0, 5, OPEN, 0, 8), frame(TcpFrame.READ, 0, 6, CLOSED, 0, 8)),
        input(9, frame(TcpFrame.READ_DATA, 0, FIRST_READ, 0, 0, 16), padded(new byte[16])),
        input(
            33,
            frame(TcpFrame.NOTHING),
            frame(TcpFrame.MESSAGE, 0, 0, 0, 0, 1),
            padded((byte) 7),
            frame(TcpFrame.NOTHING),
            frame(TcpFrame.BYE)),
        input(255, frame(TcpFrame.READ_REFUSED, 1, FIRST_READ + 4097, 0, 0, 0)),
        input(255, frame(TcpFrame.FAULT, 0, 0, 0, 0, 2), padded((byte) 'n', (byte) 'o')));
  }

  @Override
  public List<byte[]> dictionary() {
    return List.of(
        frame(TcpFrame.MESSAGE, 0, 0, 0, 0, 0),
        frame(TcpFrame.NOTHING),
        frame(TcpFrame.WRITE, 1, 0, OPEN, 0, 4),
        frame(TcpFrame.WRITE, 1, 0, LARGE, 0, 4),
        frame(TcpFrame.WRITE, 1, 0, CLOSED, 0, 4),
        frame(TcpFrame.READ, 0, 1, OPEN, 0, 4),
        frame(TcpFrame.READ_DATA, 0, FIRST_READ, 0, 0, 16),
        frame(TcpFrame.READ_REFUSED, 2, FIRST_READ + 4097, 0, 0, 0));
  }

  private static byte[] frame(byte kind) {
    return frame(kind, 0, 0, 0, 0, 0);
  }

  private static byte[] frame(
      byte kind, int immediate, int context, int key, long offset, long length) {
    byte[] bytes = new byte[TcpFrame.BYTES];
    ByteBuffer.wrap(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putShort(TcpFrame.MAGIC)
        .put(TcpFrame.VERSION)
        .put(kind)
        .putInt(immediate)
        .putInt(context)
        .putInt(key)
        .putLong(offset)
        .putLong(length);
    return bytes;
  }

  private static byte[] padded(byte... payload) {
    return Arrays.copyOf(payload, payload.length + TcpFrame.padding(payload.length));
  }

  private static byte[] input(int piece, byte[]... parts) {
    ByteBuffer bytes = ByteBuffer.allocate(512).put((byte) piece);
    for (byte[] part : parts) {
      bytes.put(part);
    }
    byte[] input = new byte[bytes.position()];
    bytes.get(0, input);
    return input;
  }

  @Override
  public void decode(byte[] input) throws IOException {
    if (input.length > 0) {
      try (var side = new Side()) {
        side.take(new Script(input));
      }
    }
  }

  /// The arriving bytes in pieces, and then the end of the stream.
  private static final class Script implements ScatteringByteChannel {
    private final byte[] input;
    private final int piece;
    private int at = 1;

    Script(byte[] input) {
      this.input = input;
      piece = Math.max(1, input[0] & 0xff);
    }

    @Override
    public int read(ByteBuffer into) {
      if (at == input.length) {
        return -1;
      }
      int bytes = Math.min(Math.min(piece, input.length - at), into.remaining());
      into.put(input, at, bytes);
      at += bytes;
      return bytes;
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) {
      int got = 0;
      for (int i = offset; i < offset + length; i++) {
        int more = into[i].hasRemaining() ? read(into[i]) : 0;
        if (more < 0) {
          return got == 0 ? -1 : got;
        }
        got += more;
        if (into[i].hasRemaining()) {
          break;
        }
      }
      return got;
    }

    @Override
    public long read(ByteBuffer[] into) {
      return read(into, 0, into.length);
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  /// Discards all bytes for the peer.
  private static final class Drain implements GatheringByteChannel {

    @Override
    public int write(ByteBuffer from) {
      int bytes = from.remaining();
      from.position(from.limit());
      return bytes;
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) {
      long bytes = 0;
      for (int i = offset; i < offset + length; i++) {
        bytes += write(from[i]);
      }
      return bytes;
    }

    @Override
    public long write(ByteBuffer[] from) {
      return write(from, 0, from.length);
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  /// A posted read that counts its completions.
  private static final class Counted extends Completion {
    private int times;

    Counted() {
      arm(1);
    }

    @Override
    protected void onSuccess() {
      times++;
    }

    @Override
    protected void onFailure(TransportException first) {
      times++;
    }
  }

  /// One end of the connection.
  private static final class Side implements TcpInbound.FrameListener, AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment guarded = guarded();
    private final RegionTable table = new RegionTable("fuzz");
    private final PostedReads reads = new PostedReads(16);
    private final TcpOutbound outbound = new TcpOutbound(table, 12 << 10);
    private final List<Counted> posted = List.of(new Counted(), new Counted());
    private final MemoryRegion open;
    private final MemoryRegion large;
    private boolean isOpen = true;

    Side() {
      open = table.register(guarded.asSlice(GUARD_BYTES, OPEN_BYTES), arena);
      large = table.register(shared(LARGE_BYTES), arena);
      MemoryRegion closed = table.register(shared(64), arena);
      if (open.export().key() != OPEN
          || large.export().key() != LARGE
          || closed.export().key() != CLOSED) {
        throw new IllegalStateException("the table gives other keys: " + closed);
      }
      closed.close();
      for (Counted done : posted) {
        LocalRegion into = (LocalRegion) large;
        into.post();
        reads.add(into, 32, 16, done);
        outbound.countOwn(1);
      }
    }

    private static MemorySegment guarded() {
      return shared(OPEN_BYTES + 2 * GUARD_BYTES);
    }

    private static MemorySegment shared(long bytes) {
      return Arena.ofAuto().allocate(bytes);
    }

    void take(Script script) throws IOException {
      var inbound = new TcpInbound(table, reads, MAX_MESSAGE_BYTES, this);
      try {
        while (isOpen && inbound.receive(script) >= 0) {
          long unused = outbound.flush(new Drain());
        }
        long unused = outbound.flush(new Drain());
      } catch (ProtocolFault refused) {
        if (refused.getMessage() == null) {
          throw new AssertionError("no message", refused);
        }
      }
    }

    @Override
    public void close() {
      var cause = new TransportException.EndpointLost("the end", null);
      outbound.fail(cause);
      reads.fail(cause);
      for (Counted done : posted) {
        if (done.times != 1) {
          throw new AssertionError("a read was completed " + done.times + " times");
        }
      }
      open.close();
      large.close();
      for (long at : new long[] {0, GUARD_BYTES + OPEN_BYTES}) {
        MemorySegment guard = guarded.asSlice(at, GUARD_BYTES);
        if (guard.mismatch(arena.allocate(GUARD_BYTES)) != -1) {
          throw new AssertionError("a write left its region");
        }
      }
      arena.close();
    }

    @Override
    public boolean isOpen() {
      return isOpen;
    }

    @Override
    public void message(MemorySegment from, long offset, int bytes) {
      if (bytes > MAX_MESSAGE_BYTES || from.asSlice(offset, bytes).byteSize() != bytes) {
        throw new AssertionError("a message of " + bytes + " bytes");
      }
    }

    @Override
    public void notified(int immediate) {}

    @Override
    public void readWanted(int key, int context, long offset, long length) throws ProtocolFault {
      if (!outbound.serve(key, context, offset, length)) {
        throw new ProtocolFault("more reads than may be outstanding");
      }
    }

    @Override
    public void readRefused(PostedReads.Read read, int reason) {
      outbound.countOwn(-1);
      reads.finish(read, new TransportException.Refused("refused", null));
    }

    @Override
    public void readDone(PostedReads.Read read) {
      outbound.countOwn(-1);
      reads.finish(read, null);
    }

    @Override
    public void ended(String why) {
      isOpen = false;
      if (why.chars().anyMatch(c -> c < ' ' || c > '~')) {
        throw new AssertionError("the peer's text comes through: " + why);
      }
    }
  }
}
