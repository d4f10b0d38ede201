// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.collective.schedule.AdditionOrder;
import io.weft.tensor.kernel.Reducer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Combines contributions that all lie in memory, in the tree of `AdditionOrder`, a block at a time
/// so that what the inner nodes hold stays in the first-level cache. One for each thread that uses
/// it; memory of its own, a slot for each inner node on a way through the tree.
public final class AdditionTree {

  private static final long ALIGNMENT = 64;

  private final MemorySegment block;

  // Of the tree that is being combined.
  private MemorySegment[] leaves = {};
  private long[] at = {};
  private Reducer reducer = (_, _, _, _, _, _, _) -> {};
  private long slotBytes;
  private long from;
  private long elements;

  /// With so many bytes for inner nodes.
  public AdditionTree(long blockBytes) {
    this.block = Arena.ofAuto().allocate(blockBytes, ALIGNMENT);
  }

  /// Returns how many bytes are combined at once of so many contributions, at least 2.
  public long longest(int contributions) {
    return contributions == 2
        ? Long.MAX_VALUE
        : block.byteSize() / AdditionOrder.depth(contributions) / ALIGNMENT * ALIGNMENT;
  }

  /// Stores the combination of a part of all leaves, at least 2, of at most `longest` bytes, to
  /// `into`, which may be one of them at the same place.
  ///
  /// Hot path.
  ///
  /// @param leafAt where each leaf begins, in bytes
  /// @param offset of the part in each leaf, in bytes
  /// @param count elements of the part
  public void combine(
      MemorySegment into,
      long intoAt,
      MemorySegment[] inputs,
      long[] leafAt,
      long offset,
      long count,
      Reducer by) {
    leaves = inputs;
    at = leafAt;
    reducer = by;
    slotBytes = inputs.length == 2 ? 0 : longest(inputs.length);
    from = offset;
    elements = count;
    node(into, intoAt, 0, inputs.length, 0);
  }

  /// Combines leaves from `first` on, at least 2, with slots from `slot` on for what is below.
  private void node(MemorySegment into, long intoAt, int first, int count, int slot) {
    int left = AdditionOrder.left(count);
    int right = count - left;
    if (left > 1) {
      node(block, slot * slotBytes, first, left, slot);
    }
    if (right > 1) {
      node(block, (slot + 1) * slotBytes, first + left, right, slot + 1);
    }
    boolean leafLeft = left == 1;
    boolean leafRight = right == 1;
    reducer.combine(
        into,
        intoAt,
        leafLeft ? leaves[first] : block,
        leafLeft ? at[first] + from : slot * slotBytes,
        leafRight ? leaves[first + left] : block,
        leafRight ? at[first + left] + from : (slot + 1) * slotBytes,
        elements);
  }
}
