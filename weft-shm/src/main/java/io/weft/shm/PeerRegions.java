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

/// The mappable regions of one peer. The class reads each of the peer's statements only once and
/// checks it against the peer's actual files.
final class PeerRegions {

  private static final System.Logger LOG = System.getLogger("io.weft.shm");

  private record Mapped(int number, MemorySegment memory) {}

  private final MemorySegment control;
  private final MemorySegment link;
  private final long process;
  private final String prefix;
  private final List<Mapped> extents = new ArrayList<>();
  // Indexed by the low 16 bits of the key.
  private @Nullable PeerRegion[] known = new PeerRegion[256];
  private int unmappable = -1;

  /// Creates the regions of the peer with this control file; claims are counted in its link file.
  PeerRegions(MemorySegment control, MemorySegment link, long process, String prefix) {
    this.control = control;
    this.link = link;
    this.process = process;
    this.prefix = prefix;
  }

  /// Returns whether the peer's region with this key is open.
  ///
  /// Hot path.
  boolean isOpen(int key) {
    return (long)
            ControlLayout.LONG.getAcquire(
                control, ControlLayout.slot(key) + ControlLayout.SLOT_STATE)
        == (ControlLayout.OPEN | Integer.toUnsignedLong(key));
  }

  /// Returns the region with this key; null if it is not open or cannot be mapped.
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
    // The slot may have been reassigned between the reads.
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
      // The garbage collector unmaps the memory when it is unreachable, so that a late access does
      // not fault.
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

  /// Forgets an extent that the peer has freed.
  void forget(int number) {
    extents.removeIf(mapped -> mapped.number() == number);
    for (int i = 0; i < known.length; i++) {
      PeerRegion region = known[i];
      if (region != null && !isOpen(region.key())) {
        known[i] = null;
      }
    }
  }

  /// Returns whether the peer's end still accepts visits.
  boolean isTaken() {
    return (long) ControlLayout.LONG.getAcquire(link, ControlLayout.ENDED) == 0;
  }
}
