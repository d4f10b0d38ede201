// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import io.weft.tensor.DType;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.Reducer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Combines the contributions that stand in the slots of all members, each rank for itself, in the
/// tree that recursive doubling builds: so an operation has the same bits whether it goes by slots
/// or by messages. With p the largest power of two up to n, member 2i + 1 first takes over from 2i
/// for all i < n - p; then the p that are left combine with those at distance p/2, …, 2, 1
/// [THAKUR05 §4.5]. Confined to the progress thread.
final class TreeSum {

  private final SharedMailbox mailbox;
  private final int active;
  private final int folded;
  private final MemorySegment block;
  private final MemorySegment[] parts;
  private final long[] at;

  /// Over the slots of this mailbox and its peers.
  TreeSum(SharedMailbox mailbox) {
    this.mailbox = mailbox;
    this.active = Integer.highestOneBit(mailbox.members());
    this.folded = mailbox.members() - active;
    this.block = Arena.ofAuto().allocate((long) active * SharedMailbox.PAYLOAD_BYTES, 64);
    this.parts = new MemorySegment[active];
    this.at = new long[active];
  }

  /// Combines all into `output`, which may be the memory that this rank's contribution was read
  /// from. `divisor` of AVERAGE, 1 = none.
  ///
  /// Hot path.
  void combine(long number, MemorySegment output, DType dtype, Reducer reducer, int divisor) {
    long elements = output.byteSize() / dtype.bytes();
    long payload = SharedMailbox.payload(number);
    if (active == 2 && folded == 0) {
      reducer.combine(
          output, 0, mailbox.mailbox(0), payload, mailbox.mailbox(1), payload, elements);
    } else {
      begin(payload, reducer, elements);
      for (int distance = active / 2; distance >= 1; distance /= 2) {
        for (int i = 0; i < distance; i++) {
          join(i, i + distance, reducer, elements);
        }
      }
      MemorySegment.copy(parts[0], at[0], output, 0, output.byteSize());
    }
    if (divisor > 1) {
      Kernels.divide(dtype, output, 0, elements, divisor);
    }
  }

  /// What each of the active members begins with.
  private void begin(long payload, Reducer reducer, long elements) {
    for (int i = 0; i < active; i++) {
      int member = i < folded ? 2 * i + 1 : i + folded;
      parts[i] = mailbox.mailbox(member);
      at[i] = payload;
      if (i < folded) {
        long into = (long) i * SharedMailbox.PAYLOAD_BYTES;
        reducer.combine(block, into, parts[i], payload, mailbox.mailbox(2 * i), payload, elements);
        parts[i] = block;
        at[i] = into;
      }
    }
  }

  private void join(int i, int other, Reducer reducer, long elements) {
    long into = (long) i * SharedMailbox.PAYLOAD_BYTES;
    reducer.combine(block, into, parts[i], at[i], parts[other], at[other], elements);
    parts[i] = block;
    at[i] = into;
  }
}
