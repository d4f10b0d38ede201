// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.MemoryRegion;
import io.weft.verbs.Parties.Party;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// One region, its expected contents, and the spans of it that operations use.
final class Place {

  static final int BYTES = 300_000;

  final Party owner;
  final MemoryRegion region;
  final byte[] holds = new byte[BYTES];
  final List<Span> busy = new ArrayList<>();
  private final @Nullable Arena arena;
  boolean isOpen = true;

  /// Bytes that an operation uses, exclusively if it changes them.
  record Span(int from, int bytes, boolean isAlone, boolean isOwn) {

    boolean conflictsWith(Span other) {
      return (isAlone || other.isAlone)
          && from < other.from + other.bytes
          && other.from < from + bytes;
    }
  }

  /// Creates a region of the transport's or of foreign memory, with random contents.
  Place(Party owner, Random random) {
    this.owner = owner;
    arena = random.nextBoolean() ? Arena.ofShared() : null;
    region =
        arena == null
            ? owner.transport.allocate(BYTES)
            : owner.transport.register(arena.allocate(BYTES, 8), arena);
    random.nextBytes(holds);
    restore(0, BYTES);
  }

  /// Takes bytes for an operation; returns null if a conflicting operation uses them.
  @Nullable Span take(int from, int bytes, boolean isAlone, boolean isOwn) {
    Span span = new Span(from, bytes, isAlone, isOwn);
    if (busy.stream().anyMatch(span::conflictsWith)) {
      return null;
    }
    busy.add(span);
    return span;
  }

  /// Returns whether the owner has posted work that uses this region.
  boolean isPosted() {
    return busy.stream().anyMatch(Span::isOwn);
  }

  MemorySegment part(int from, int bytes) {
    return region.segment().asSlice(from, bytes);
  }

  MemorySegment modelPart(int from, int bytes) {
    return MemorySegment.ofArray(holds).asSlice(from, bytes);
  }

  /// Records that bytes of another place have arrived, and checks them.
  void landed(int at, Place from, int offset, int bytes, String how) {
    System.arraycopy(from.holds, offset, holds, at, bytes);
    assertThat(part(at, bytes).mismatch(modelPart(at, bytes))).as(how).isEqualTo(-1);
  }

  /// Restores the expected contents after an operation that leaves them undefined.
  void restore(int from, int bytes) {
    part(from, bytes).copyFrom(modelPart(from, bytes));
  }

  void check(String when) {
    assertThat(part(0, BYTES).mismatch(modelPart(0, BYTES))).as("memory %s", when).isEqualTo(-1);
  }

  void close() {
    isOpen = false;
    region.close();
    if (arena != null) {
      arena.close();
    }
  }
}
