// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/// An allgather of byte arrays of different lengths: each rank's row is its length and its bytes.
/// Any thread.
final class RankBytes {

  private RankBytes() {}

  static Handle<TensorLease> exchange(
      Communicator communicator, byte[] own, CollectiveOptions options) {
    MemorySegment memory = Arena.ofAuto().allocate(Integer.BYTES + (long) own.length, 8);
    memory.set(ValueLayout.JAVA_INT, 0, own.length);
    MemorySegment.copy(own, 0, memory, ValueLayout.JAVA_BYTE, Integer.BYTES, own.length);
    TensorView tensor = new TensorView(DType.UINT8, Shape.of(memory.byteSize()), memory);
    return communicator.allgather(tensor, options);
  }

  /// Returns the bytes of each rank, in rank order. Throws `IllegalStateException`, which names the
  /// rank, if a row cannot be read.
  ///
  /// @param describe returns a rank in words
  static List<byte[]> rows(MemorySegment all, int size, IntFunction<String> describe) {
    List<byte[]> rows = new ArrayList<>(size);
    long at = 0;
    for (int rank = 0; rank < size; rank++) {
      long left = all.byteSize() - at - Integer.BYTES;
      int length = left < 0 ? -1 : all.get(ValueLayout.JAVA_INT_UNALIGNED, at);
      if (length < 0 || length > left) {
        throw new IllegalStateException(
            "report of " + describe.apply(rank) + " has " + length + " bytes of " + left);
      }
      at += Integer.BYTES;
      rows.add(all.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE));
      at += length;
    }
    return rows;
  }
}
