// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.transport.Completion;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/// Two registered regions of equal size, this rank's and the peer's. Each is cut into equal slots.
/// Writes and reads go between slots of the same number. The caller owns the object.
final class SlottedRegion implements AutoCloseable {

  /// The length of an announcement. No exercise sends messages of this length, because theirs are
  /// multiples of 4.
  private static final int ANNOUNCEMENT_BYTES = RemoteRegion.WIRE_BYTES + 1;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

  private final PeerLink link;
  private final MemoryRegion own;
  private final Slice[] here;
  private final RemoteSlice[] there;
  private final Left left = new Left();
  private boolean met;

  /// The completion of a write, after which its memory may change.
  private static final class Left extends Completion {
    private boolean is = true;
    private @Nullable TransportException failure;

    @Override
    protected void onSuccess() {
      is = true;
    }

    @Override
    protected void onFailure(TransportException first) {
      is = true;
      failure = first;
    }
  }

  /// Creates a region with one slot of `bytes`.
  SlottedRegion(PeerLink link, long bytes) {
    this(link, bytes, 1);
  }

  /// Creates a region of `slots` slots of `bytes` each.
  SlottedRegion(PeerLink link, long bytes, int slots) {
    long most = link.transport().capabilities().maxTransferBytes();
    if (bytes > most) {
      throw new IllegalArgumentException(
          "this transport moves at most %d bytes at a time; give smaller --bytes".formatted(most));
    }
    this.link = link;
    own = link.transport().allocate(bytes * slots);
    here = new Slice[slots];
    there = new RemoteSlice[slots];
    for (int i = 0; i < slots; i++) {
      here[i] = own.slice(i * bytes, bytes);
    }
  }

  MemorySegment memory() {
    return own.segment();
  }

  /// Announces this rank's region to the peer and waits for the peer's announcement. Both ranks
  /// must pass received messages to `hear` by then.
  void meet() {
    RemoteRegion region = own.export();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment message = arena.allocate(ANNOUNCEMENT_BYTES);
      message.set(LONG, 0, region.address());
      message.set(LONG, 8, region.bytes());
      message.set(INT, 16, region.key());
      message.set(LONG, 20, region.incarnation());
      link.send(message);
    }
    link.until(() -> met);
  }

  /// Returns true if `message` was the peer's announcement.
  boolean hear(MemorySegment message) {
    if (message.byteSize() != ANNOUNCEMENT_BYTES) {
      return false;
    }
    long bytes = message.get(LONG, 8);
    RemoteRegion region =
        new RemoteRegion(message.get(LONG, 0), bytes, message.get(INT, 16), message.get(LONG, 20));
    long each = bytes / there.length;
    for (int i = 0; i < there.length; i++) {
      there[i] = new RemoteSlice(region, i * each, each);
    }
    met = true;
    return true;
  }

  /// Posts a write of one slot. Returns false under back-pressure. `meet` must precede it.
  ///
  /// Hot path.
  boolean tryWrite(int slot, int immediate, Completion done) {
    return link.posted(link.peer().tryWrite(here[slot], there[slot], immediate, done));
  }

  /// Posts a read of one slot. Returns false under back-pressure. `meet` must precede it.
  ///
  /// Hot path.
  boolean tryRead(int slot, Completion done) {
    return link.posted(link.peer().tryRead(here[slot], there[slot], done));
  }

  /// Posts a write of the first slot when the transport has room. `meet` must precede it.
  ///
  /// Hot path.
  void write() {
    write(here[0]);
  }

  /// Posts a write of memory of another region into the first slot. `from` must be as long as a
  /// slot.
  void write(Slice from) {
    left.arm(1);
    left.is = false;
    link.until(() -> link.posted(link.peer().tryWrite(from, there[0], 0, left)));
  }

  /// Waits until the memory of the last `write` may change.
  void flush() {
    link.until(() -> left.is);
    if (left.failure != null) {
      throw left.failure;
    }
  }

  @Override
  public void close() {
    flush();
    own.close();
  }
}
