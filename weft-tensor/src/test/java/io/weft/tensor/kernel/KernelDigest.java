// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.zip.CRC32C;

/// Prints the kernels that this JVM chose and a digest of their results. Runs in a separate JVM.
final class KernelDigest {

  private KernelDigest() {}

  public static void main(String[] args) {
    long seed = Long.parseLong(args[0]);
    System.out.println(Kernels.description() + " " + of(seed));
  }

  /// Returns one digest over all types and operations, including divisions.
  static long of(long seed) {
    CRC32C digest = new CRC32C();
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      for (DType dtype : DType.values()) {
        for (ReduceOp op : ReduceOp.values()) {
          MemorySegment into = Samples.of(arena, dtype, 3, 4999, random);
          MemorySegment from = Samples.of(arena, dtype, 5, 4999, random);
          Kernels.reducer(dtype, op).reduce(into, 3, from, 5, 4999);
          Kernels.divide(dtype, into, 3, 1000, 3);
          digest.update(into.toArray(ValueLayout.JAVA_BYTE));
        }
      }
    }
    return digest.getValue();
  }
}
