// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/// The inputs with new coverage. Each took an edge that no earlier input took, or took it more
/// times. Confined to one thread.
final class Corpus {

  /// One input.
  ///
  /// @param input its bytes
  /// @param edges slots of `Coverage` that it hits
  /// @param pairs numbers that the decoder compared
  record Entry(byte[] input, BitSet edges, long[] pairs) {}

  private final byte[] seen = new byte[Coverage.SLOTS];
  private final List<Entry> entries = new ArrayList<>();
  private int edges;

  List<Entry> entries() {
    return entries;
  }

  /// Returns the number of slots that any input has hit.
  int edges() {
    return edges;
  }

  /// Adds these counts. Returns whether one of them is new.
  boolean isNew(byte[] hits) {
    boolean isNew = false;
    for (int slot = 0; slot < hits.length; slot++) {
      if (hits[slot] != 0) {
        byte size = size(hits[slot] & 0xff);
        if ((seen[slot] & size) == 0) {
          edges += seen[slot] == 0 ? 1 : 0;
          seen[slot] |= size;
          isNew = true;
        }
      }
    }
    return isNew;
  }

  void add(Entry entry) {
    entries.add(entry);
  }

  /// Returns a few inputs that together take all edges. Short inputs take precedence.
  List<byte[]> distilled() {
    var covered = new BitSet(Coverage.SLOTS);
    var kept = new ArrayList<byte[]>();
    entries.stream()
        .sorted(Comparator.comparingInt((Entry e) -> e.input().length))
        .forEach(
            entry -> {
              var fresh = (BitSet) entry.edges().clone();
              fresh.andNot(covered);
              if (!fresh.isEmpty()) {
                covered.or(fresh);
                kept.add(entry.input());
              }
            });
    return kept;
  }

  static BitSet edges(byte[] hits) {
    var edges = new BitSet(hits.length);
    for (int slot = 0; slot < hits.length; slot++) {
      if (hits[slot] != 0) {
        edges.set(slot);
      }
    }
    return edges;
  }

  /// Returns the class of a count as a bit: 1, 2, 3, up to 7, 15, 31, 127 and more.
  private static byte size(int count) {
    if (count <= 3) {
      return (byte) (1 << (count - 1));
    }
    if (count < 16) {
      return (byte) (count < 8 ? 8 : 16);
    }
    if (count < 128) {
      return (byte) (count < 32 ? 32 : 64);
    }
    return (byte) 128;
  }
}
