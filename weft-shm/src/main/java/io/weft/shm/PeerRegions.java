// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One peer's regions as far as they can be mapped here. What the peer says of them is read once
/// and checked against the files that it really has.
final class PeerRegions {

  private static final System.Logger LOG = System.getLogger("io.weft.shm");

  private record Mapped(int number, MemorySegment memory) {}

  private final MemorySegment control;
  private final MemorySegment link;
  private final long process;
  private final String prefix;
  private final List<Mapped> extents = new ArrayList<>();
  // By the low 16 bits of the key.
  private @Nullable PeerRegion[] known = new PeerRegion[256];
  private int unmappable = -1;

  /// Of the peer with this control file; claims go to its link file.
  PeerRegions(MemorySegment control, MemorySegment link, long process, String prefix) {
    this.control = control;
    this.link = link;
    this.process = process;
    this.prefix = prefix;
  }

  /// Whether the peer has a region with this key open.
  ///
  /// Hot path.
  boolean isOpen(int key) {
    return (long)
            ControlLayout.LONG.getAcquire(
                control, ControlLayout.slot(key) + ControlLayout.SLOT_STATE)
        == (ControlLayout.OPEN | Integer.toUnsignedLong(key));
  }

  /// The region with this key; null if it is not open or cannot be mapped.
  ///
  /// Hot path.
  @Nullable PeerRegion find(int key) {
    int index = ControlLayout.index(key);
    if (index < known.length) {
      PeerRegion region = known[index];
      if (region != null && region.key() == key) {
        return region;
      }
    }
    return map(key);
  }

  private @Nullable PeerRegion map(int key) {
    long slot = ControlLayout.slot(key);
    if (!isOpen(key)) {
      return null;
    }
    int number = control.get(ValueLayout.JAVA_INT, slot + ControlLayout.SLOT_EXTENT);
    int descriptor = control.get(ValueLayout.JAVA_INT, slot + ControlLayout.SLOT_FILE);
    long offset = control.get(ValueLayout.JAVA_LONG, slot + ControlLayout.SLOT_OFFSET);
    long bytes = control.get(ValueLayout.JAVA_LONG, slot + ControlLayout.SLOT_LENGTH);
    long all = control.get(ValueLayout.JAVA_LONG, slot + ControlLayout.SLOT_EXTENT_BYTES);
    // The slot may have got another region in between.
    VarHandle.acquireFence();
    if (!isOpen(key)
        || number < 0
        || number == unmappable
        || offset < 0
        || bytes < 0
        || all <= 0
        || bytes > all
        || offset > all - bytes) {
      return null;
    }
    MemorySegment memory = extent(number, descriptor, all);
    if (memory == null || offset > memory.byteSize() - bytes) {
      return null;
    }
    PeerRegion region = new PeerRegion(this, link, memory.asSlice(offset, bytes), key);
    int index = ControlLayout.index(key);
    if (index >= known.length) {
      known = Arrays.copyOf(known, Math.max(index + 1, 2 * known.length));
    }
    known[index] = region;
    return region;
  }

  private @Nullable MemorySegment extent(int number, int descriptor, long bytes) {
    for (int i = extents.size() - 1; i >= 0; i--) {
      if (extents.get(i).number() == number) {
        return extents.get(i).memory();
      }
    }
    try {
      // Unmapped when nobody can reach it any more, so that a late access hurts nobody.
      MemorySegment memory =
          MemoryFile.open(process, descriptor, Extent.name(prefix, number), bytes, Arena.ofAuto());
      extents.add(new Mapped(number, memory));
      return memory;
    } catch (IOException e) {
      unmappable = number;
      LOG.log(
          Level.DEBUG,
          "extent {0} of process {1} is not mapped: {2}",
          number,
          process,
          e.getMessage());
      return null;
    }
  }

  /// The peer has given this extent up.
  void forget(int number) {
    extents.removeIf(mapped -> mapped.number() == number);
    for (int i = 0; i < known.length; i++) {
      PeerRegion region = known[i];
      if (region != null && !isOpen(region.key())) {
        known[i] = null;
      }
    }
  }

  /// Whether the peer's end still takes visits.
  boolean isTaken() {
    return (long) ControlLayout.LONG.getAcquire(link, ControlLayout.ENDED) == 0;
  }
}
