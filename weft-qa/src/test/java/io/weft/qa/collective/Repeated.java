// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/// A sequence of random integers that repeats up to the end of a tensor. The sequence has a prime
/// number of elements, so that a misplaced chunk is detected.
///
/// @param dtype an integer type
/// @param run some repetitions of the sequence
record Repeated(DType dtype, MemorySegment run) {

  private static final int PRIME = 1021;
  private static final int TIMES = 32;

  /// Returns random elements over the whole range of the type.
  static Repeated of(DType dtype, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long[] elements = new long[PRIME];
    for (int i = 0; i < PRIME; i++) {
      elements[i] = random.nextLong();
    }
    return repeated(dtype, elements);
  }

  /// Returns the sum of ranks 0 to `size` - 1, of which rank r contributes `of(dtype, seed + r)`.
  /// Sums wrap around.
  static Repeated sum(DType dtype, long seed, int size) {
    long[] sum = new long[PRIME];
    for (int rank = 0; rank < size; rank++) {
      SplittableRandom random = new SplittableRandom(seed + rank);
      for (int i = 0; i < PRIME; i++) {
        sum[i] += random.nextLong();
      }
    }
    return repeated(dtype, sum);
  }

  private static Repeated repeated(DType dtype, long[] elements) {
    MemorySegment run = MemorySegment.ofArray(new byte[TIMES * PRIME * dtype.bytes()]);
    for (int i = 0; i < TIMES * PRIME; i++) {
      long element = elements[i % PRIME];
      long at = (long) i * dtype.bytes();
      // The lower bits of a sum are the sum of the lower bits.
      switch (dtype.bytes()) {
        case 1 -> run.set(ValueLayout.JAVA_BYTE, at, (byte) element);
        case 4 -> run.set(ValueLayout.JAVA_INT_UNALIGNED, at, (int) element);
        case 8 -> run.set(ValueLayout.JAVA_LONG_UNALIGNED, at, element);
        default -> throw new IllegalArgumentException("no integers of " + dtype);
      }
    }
    return new Repeated(dtype, run);
  }

  /// Overwrites all of `tensor`.
  void fill(TensorView tensor) {
    MemorySegment data = tensor.data();
    for (long at = 0; at < data.byteSize(); at += run.byteSize()) {
      long bytes = Math.min(run.byteSize(), data.byteSize() - at);
      MemorySegment.copy(run, 0, data, at, bytes);
    }
  }

  /// Returns the index of the first byte that differs, or -1 if none does.
  long mismatch(TensorView tensor) {
    MemorySegment data = tensor.data();
    for (long at = 0; at < data.byteSize(); at += run.byteSize()) {
      long bytes = Math.min(run.byteSize(), data.byteSize() - at);
      long wrong = MemorySegment.mismatch(run, 0, bytes, data, at, at + bytes);
      if (wrong >= 0) {
        return at + wrong;
      }
    }
    return -1;
  }
}
