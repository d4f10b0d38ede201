// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/// The kernels of one type on heap tiles. A piece of each run is copied to an array that stays in
/// the first-level cache, combined there by a plain loop of the type, and copied back. The JIT
/// compiles such a loop to vector instructions, but not a loop whose operands are both native
/// memory. One instance per thread and type.
///
/// @param <A> type of the arrays
abstract class HeapTile<A> {

  private final DType dtype;
  private final int capacity;

  /// The left operand, which takes the result.
  final A a;

  /// The right operand.
  final A b;

  final MemorySegment aBytes;
  private final MemorySegment bBytes;

  /// Creates a tile on two arrays of the same length.
  HeapTile(DType dtype, A a, A b, Function<A, MemorySegment> bytes) {
    this.dtype = dtype;
    this.a = a;
    this.b = b;
    aBytes = bytes.apply(a);
    bBytes = bytes.apply(b);
    capacity = (int) aBytes.byteSize();
  }

  /// Combines the first `n` elements of both arrays into the left one.
  abstract void combine(ReduceOp op, int n);

  /// Divides the first `n` elements of the left array.
  abstract void divide(int divisor, int n);

  /// Writes the first `n` elements of the left array, with canonical NaNs.
  void store(MemorySegment into, long offset, int n) {
    MemorySegment.copy(aBytes, 0, into, offset, (long) n * dtype.bytes());
  }

  /// Returns a reducer on the calling thread's tile.
  static ReduceKernel reducer(ThreadLocal<? extends HeapTile<?>> tiles, ReduceOp op) {
    return (into, at, left, p, right, q, elements) -> {
      HeapTile<?> tile = tiles.get();
      long bytes = Runs.bytes(tile.dtype, into, at, left, p, right, q, elements);
      for (long i = 0; i < bytes; i += tile.capacity) {
        int length = (int) Math.min(tile.capacity, bytes - i);
        int n = length / tile.dtype.bytes();
        MemorySegment.copy(left, p + i, tile.aBytes, 0, length);
        MemorySegment.copy(right, q + i, tile.bBytes, 0, length);
        tile.combine(op, n);
        tile.store(into, at + i, n);
      }
    };
  }

  /// Returns a divider on the calling thread's tile.
  static Divider divider(ThreadLocal<? extends HeapTile<?>> tiles) {
    return (data, p, elements, divisor) -> {
      HeapTile<?> tile = tiles.get();
      long bytes = Runs.bytes(tile.dtype, data, p, elements);
      for (long i = 0; i < bytes; i += tile.capacity) {
        int length = (int) Math.min(tile.capacity, bytes - i);
        int n = length / tile.dtype.bytes();
        MemorySegment.copy(data, p + i, tile.aBytes, 0, length);
        tile.divide(divisor, n);
        tile.store(data, p + i, n);
      }
    };
  }
}
