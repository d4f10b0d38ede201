// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import io.weft.collective.exchange.AdditionTree;
import io.weft.collective.schedule.AdditionOrder;
import io.weft.tensor.DType;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.ReduceKernel;
import java.lang.foreign.MemorySegment;

/// Combines the contributions in the slots of all members, each rank locally, in the same tree as
/// messages. Therefore an operation has the same bits by slots and by messages. Confined to the
/// progress thread.
final class TreeSum {

  /// Room for a contribution, in whole cache lines.
  private static final long LEAF_BYTES = (SharedMailbox.PAYLOAD_BYTES + 63) / 64 * 64;

  private final SharedMailbox mailbox;
  private final AdditionTree tree;
  private final MemorySegment[] parts;
  private final long[] at;

  /// Creates a sum over the slots of this mailbox and its peers.
  TreeSum(SharedMailbox mailbox) {
    this.mailbox = mailbox;
    int depth = AdditionOrder.depth(Math.max(2, mailbox.members()));
    this.tree = new AdditionTree((long) depth * LEAF_BYTES);
    this.parts = new MemorySegment[mailbox.members()];
    this.at = new long[mailbox.members()];
  }

  /// Combines all contributions into `output`, which may be the memory from which this rank's
  /// contribution was read. `divisor` is that of AVERAGE, otherwise 1.
  ///
  /// Hot path.
  void combine(long number, MemorySegment output, DType dtype, ReduceKernel reducer, int divisor) {
    long elements = output.byteSize() / dtype.bytes();
    for (int member = 0; member < parts.length; member++) {
      parts[member] = mailbox.mailbox(member);
      at[member] = SharedMailbox.payload(number);
    }
    tree.combine(output, 0, parts, at, 0, elements, reducer);
    if (divisor > 1) {
      Kernels.divide(dtype, output, 0, elements, divisor);
    }
  }
}
