// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.collective.schedule.AdditionOrder;
import io.weft.tensor.kernel.ReduceKernel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Combines contributions in memory by the tree of `AdditionOrder`, one block at a time, so that
/// the results of inner nodes stay in the first-level cache. Each thread needs a separate instance,
/// which owns a slot for each inner node on a path through the tree.
public final class AdditionTree {

  private static final long ALIGNMENT = 64;

  private final MemorySegment block;

  // The state of the current combination.
  private MemorySegment[] leaves = {};
  private long[] at = {};
  private ReduceKernel reducer = (_, _, _, _, _, _, _) -> {};
  private long slotBytes;
  private long from;
  private long elements;

  /// Allocates this many bytes for inner nodes.
  public AdditionTree(long blockBytes) {
    this.block = Arena.ofAuto().allocate(blockBytes, ALIGNMENT);
  }

  /// Returns the number of bytes that are combined at once for this many contributions, at least 2.
  public long longest(int contributions) {
    return contributions == 2
        ? Long.MAX_VALUE
        : block.byteSize() / AdditionOrder.depth(contributions) / ALIGNMENT * ALIGNMENT;
  }

  /// Combines a part of at least 2 leaves, of at most `longest` bytes, and stores the result to
  /// `into`, which may be one of the leaves at the same place.
  ///
  /// Hot path.
  ///
  /// @param leafAt start of each leaf in bytes
  /// @param offset start of the part in each leaf, in bytes
  /// @param count number of elements of the part
  public void combine(
      MemorySegment into,
      long intoAt,
      MemorySegment[] inputs,
      long[] leafAt,
      long offset,
      long count,
      ReduceKernel by) {
    leaves = inputs;
    at = leafAt;
    reducer = by;
    slotBytes = inputs.length == 2 ? 0 : longest(inputs.length);
    from = offset;
    elements = count;
    node(into, intoAt, 0, inputs.length, 0);
  }

  /// Combines at least 2 leaves from `first` on. The nodes below use the slots from `slot` on.
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
