// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.transport.Completion;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.region.RegionTable;
import io.weft.transport.ring.MessageBuffer;
import io.weft.verbs.device.Registration;
import io.weft.verbs.device.VerbsException;
import io.weft.verbs.memory.MemorySettings;
import io.weft.verbs.memory.Pins;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/// The writes of a proved but broken peer into this side's ring buffer, with their immediate
/// values. The lowest two bits of a step's first byte select the event: posted work completes, or
/// an immediate value of 4 bytes arrives, before which the peer writes a number of bytes (2 bytes)
/// to its target. There are two open regions, a closed one, and two reads in flight. No memory is
/// registered, so no transfer uses an offer.
public final class VerbsFramesTarget implements FuzzTarget {

  private static final int GUARD_BYTES = 64;
  private static final int OPEN_BYTES = 1000;
  private static final int LARGE_BYTES = 1 << 16;
  private static final int RING_BYTES = 1 << 18;
  private static final int READ_BYTES = 16;
  private static final int ALIGNMENT = 64;

  // The first keys of a table.
  private static final int OPEN = 0x10000;
  private static final int LARGE = 0x10001;
  private static final int CLOSED = 0x10002;
  private static final int THEIRS = 0x20005;
  private static final int BLOCK = 0x99;

  private static final byte LEAVE = 0;
  private static final byte COME = 1;

  private final MemorySegment ring = Arena.ofAuto().allocate(RING_BYTES, ALIGNMENT);
  private final MemorySegment sendBuffer = Arena.ofAuto().allocate(RING_BYTES, ALIGNMENT);
  private final MessageBuffer messages = new MessageBuffer(VerbsOutbound.MAX_MESSAGE_BYTES);

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public VerbsFramesTarget() {}

  @Override
  public String name() {
    return "verbs-frames";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        input(come(0, frame(VerbsFrame.MESSAGE, 3, 0, 0, 0, 0), new byte[] {1, 2, 3})),
        input(
            come(1, frame(VerbsFrame.WRITE, 8, OPEN, 9, 100, 16), new byte[8]),
            come(3, frame(VerbsFrame.LAST, 8, OPEN, 9, 108, 16), new byte[8])),
        input(come(0, frame(VerbsFrame.LAST, 60, CLOSED, 9, 0, 60), new byte[60])),
        input(come(0, frame(VerbsFrame.LAST_PLACED, 9000, LARGE, 7, 0, 9000)), credit(1)),
        input(come(0, frame(VerbsFrame.READ, 0, LARGE, 0, 0, LARGE_BYTES)), new byte[] {LEAVE}),
        input(come(0, frame(VerbsFrame.READ, 0, CLOSED, 0, 0, 8)), new byte[] {LEAVE}, credit(1)),
        input(
            come(
                0, frame(VerbsFrame.ANSWER, READ_BYTES, 0, 0, 0, READ_BYTES), new byte[READ_BYTES]),
            come(2, frame(VerbsFrame.REFUSAL, 0, 0, 0, 0, READ_BYTES))),
        input(
            come(0, frame(VerbsFrame.OFFER, 0, BLOCK, 0, 1L << 40, 1 << 20)),
            come(1, frame(VerbsFrame.CLOSED, 0, THEIRS, 0, 0, 0)),
            come(2, frame(VerbsFrame.WITHDRAW, 0, BLOCK, 0, 0, 0)),
            new byte[] {LEAVE},
            come(3, frame(VerbsFrame.CLOSED, 0, THEIRS + (1 << 16), 0, 0, 0)),
            come(4, frame(VerbsFrame.OFFER, 0, BLOCK + 1, 0, 1L << 40, 1 << 20))),
        input(come(0, frame(VerbsFrame.WITHDRAWN, 0, BLOCK, 0, 0, 0))),
        input(come(0, frame(VerbsFrame.LEFT, 0, OPEN, 0, 0, 0))));
  }

  @Override
  public List<byte[]> dictionary() {
    return List.of(
        come(0, frame(VerbsFrame.MESSAGE, 0, 0, 0, 0, 0)),
        come(0, frame(VerbsFrame.LAST, 0, OPEN, 1, 0, 0)),
        come(0, frame(VerbsFrame.PLACED, 8, LARGE, 1, 0, 16)),
        come(0, frame(VerbsFrame.READ, 0, OPEN, 0, 0, 8)),
        come(0, frame(VerbsFrame.REFUSAL, 0, 0, 0, 0, READ_BYTES)),
        come(0, frame(VerbsFrame.OFFER, 0, BLOCK, 0, 64, 64)),
        come(0, frame(VerbsFrame.WITHDRAW, 0, BLOCK, 0, 0, 0)),
        come(0, frame(VerbsFrame.CLOSED, 0, THEIRS, 0, 0, 0)),
        come(0, frame(VerbsFrame.LEFT, 0, THEIRS, 0, 0, 0)),
        credit(2),
        new byte[] {LEAVE});
  }

  private static byte[] frame(
      int kind, int payload, int key, int immediate, long offset, long length) {
    byte[] bytes = new byte[VerbsFrame.HEADER];
    VerbsFrame.header(
        MemorySegment.ofArray(bytes), 0, kind, payload, key, immediate, offset, length);
    return bytes;
  }

  private static byte[] come(int place, byte[]... parts) {
    byte[] all = input(parts);
    return ByteBuffer.allocate(7 + all.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(COME)
        .putInt(place)
        .putShort((short) all.length)
        .put(all)
        .array();
  }

  private static byte[] credit(int frames) {
    return come(RingCredits.CREDIT | frames);
  }

  private static byte[] input(byte[]... parts) {
    ByteBuffer bytes = ByteBuffer.allocate(1024);
    for (byte[] part : parts) {
      bytes.put(part);
    }
    byte[] input = new byte[bytes.position()];
    bytes.get(0, input);
    return input;
  }

  @Override
  public void decode(byte[] input) {
    ring.fill((byte) 0);
    try (var side = new Side()) {
      side.follow(ByteBuffer.wrap(input).order(ByteOrder.LITTLE_ENDIAN));
    }
  }

  /// A registry without a device, because the table alone registers regions.
  private record NoDevice() implements Pins.Registry {

    @Override
    public Registration register(MemorySegment memory, Registration.Access access) {
      throw new VerbsException("there is no device");
    }

    @Override
    public Registration.RegistrationCounts counts() {
      return new Registration.RegistrationCounts(0, 0, 0, 0, 0, 0);
    }
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
  private final class Side implements VerbsInbound.RingListener, AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment guarded = shared(OPEN_BYTES + 2 * GUARD_BYTES);
    private final RegionTable table = new RegionTable("fuzz");
    private final Pins pins =
        new Pins(table, new NoDevice(), new MemorySettings(0, 0, 4096, false));
    private final Wire wire = new Wire(ring, sendBuffer);
    private final VerbsOutbound outbound = new VerbsOutbound(wire, pins, new OneSided());
    private final Grants grants = new Grants(outbound, 0);
    private final VerbsInbound inbound =
        new VerbsInbound(wire, outbound, grants, table, messages, this);
    private final List<Counted> posted = List.of(new Counted(), new Counted());
    private final MemoryRegion open;
    private final MemoryRegion large;

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
      RemoteRegion theirs = new RemoteRegion(1L << 40, 1 << 20, THEIRS, 1);
      for (Counted done : posted) {
        PostResult result =
            outbound.post(
                VerbsOutbound.SendKind.READ,
                (LocalRegion) large,
                32,
                new RemoteSlice(theirs, 0, READ_BYTES),
                0,
                done,
                null);
        if (result != PostResult.POSTED) {
          throw new IllegalStateException("a read was " + result);
        }
      }
      int unused = outbound.push();
    }

    private static MemorySegment shared(long bytes) {
      return Arena.ofAuto().allocate(bytes);
    }

    void follow(ByteBuffer script) {
      try {
        while (script.hasRemaining()) {
          if ((script.get() & COME) == 0) {
            leave();
          } else if (script.remaining() >= Integer.BYTES + Short.BYTES) {
            come(script.getInt(), Short.toUnsignedInt(script.getShort()), script);
          }
        }
        leave();
      } catch (VerbsFault refused) {
        if (String.valueOf(refused.getMessage()).isBlank()) {
          throw new AssertionError("no message", refused);
        }
      }
    }

    private void leave() {
      wire.retireAll();
      int unused = outbound.settle() + outbound.push();
    }

    private void come(int immediate, int length, ByteBuffer script) throws VerbsFault {
      int bytes = Math.min(length, script.remaining());
      long at = (long) immediate * ALIGNMENT;
      if (at >= 0 && at + bytes <= RING_BYTES) {
        MemorySegment.copy(script.array(), script.position(), ring, JAVA_BYTE, at, bytes);
      }
      script.position(script.position() + bytes);
      inbound.take(immediate);
    }

    @Override
    public void message(MemorySegment message) {
      if (message.byteSize() > VerbsOutbound.MAX_MESSAGE_BYTES) {
        throw new AssertionError("a message of " + message.byteSize() + " bytes");
      }
    }

    @Override
    public void notified(int immediate) {}

    @Override
    public void readDone(boolean isRefused) {
      outbound.answered(isRefused ? new TransportException.Refused("refused", null) : null);
    }

    @Override
    public void close() {
      grants.end();
      outbound.end(new TransportException.EndpointLost("the end", null));
      for (Counted done : posted) {
        if (done.times != 1) {
          throw new AssertionError("a read was completed " + done.times + " times");
        }
      }
      open.close();
      large.close();
      for (long at : new long[] {0, GUARD_BYTES + OPEN_BYTES}) {
        if (guarded.asSlice(at, GUARD_BYTES).mismatch(arena.allocate(GUARD_BYTES)) != -1) {
          throw new AssertionError("a write left its region");
        }
      }
      arena.close();
    }
  }
}
