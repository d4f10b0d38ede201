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

/// One region, what it must hold, and which of its bytes are in somebody's hands.
final class Place {

  static final int BYTES = 300_000;

  final Party owner;
  final MemoryRegion region;
  final byte[] holds = new byte[BYTES];
  final List<Span> busy = new ArrayList<>();
  private final @Nullable Arena arena;
  boolean isOpen = true;

  /// Bytes that an operation uses; alone if it changes them.
  record Span(int from, int bytes, boolean isAlone, boolean isOwn) {

    boolean conflictsWith(Span other) {
      return (isAlone || other.isAlone)
          && from < other.from + other.bytes
          && other.from < from + bytes;
    }
  }

  /// Memory of the transport or of somebody else, with random contents.
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

  /// Takes bytes; null if others have them.
  @Nullable Span take(int from, int bytes, boolean isAlone, boolean isOwn) {
    Span span = new Span(from, bytes, isAlone, isOwn);
    if (busy.stream().anyMatch(span::conflictsWith)) {
      return null;
    }
    busy.add(span);
    return span;
  }

  /// Whether work of its owner is posted with it.
  boolean isPosted() {
    return busy.stream().anyMatch(Span::isOwn);
  }

  MemorySegment part(int from, int bytes) {
    return region.segment().asSlice(from, bytes);
  }

  MemorySegment modelPart(int from, int bytes) {
    return MemorySegment.ofArray(holds).asSlice(from, bytes);
  }

  /// What must lie there now has come from another place.
  void landed(int at, Place from, int offset, int bytes, String how) {
    System.arraycopy(from.holds, offset, holds, at, bytes);
    assertThat(part(at, bytes).mismatch(modelPart(at, bytes))).as(how).isEqualTo(-1);
  }

  /// Makes the memory hold what it must, after something that leaves it open.
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
