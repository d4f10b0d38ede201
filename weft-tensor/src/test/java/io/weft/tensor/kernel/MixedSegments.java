// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Sums segments of all kinds for some seconds: confined, shared, automatic, and mapped from a
/// file. Prints whether the sums are right. Runs in a separate JVM.
final class MixedSegments {

  private static final long BYTES = 1 << 20;
  private static final long PIECE_BYTES = 256 << 10;
  private static final long NANOS = 4_000_000_000L;

  private MixedSegments() {}

  public static void main(String[] args) throws IOException {
    Kernels.warmUp();
    try (Arena confined = Arena.ofConfined();
        Arena shared = Arena.ofShared()) {
      MemorySegment[] all = {
        shared.allocate(BYTES, 64),
        mapped(),
        shared.allocate(BYTES, 64),
        Arena.ofAuto().allocate(BYTES, 64),
        confined.allocate(BYTES, 64),
        mapped(),
      };
      boolean right = true;
      long begin = System.nanoTime();
      for (int t = 1; System.nanoTime() - begin < NANOS; t++) {
        // Uses the same three segments for a while, as training does.
        int first = t >> 6;
        MemorySegment left = all[(first + 2) % all.length].fill((byte) 0);
        MemorySegment right1 = all[(first + 3) % all.length].fill((byte) 0);
        left.setAtIndex(ValueLayout.JAVA_FLOAT, t % 1000, 1f);
        right1.setAtIndex(ValueLayout.JAVA_FLOAT, t % 1000, 2f);
        MemorySegment into = all[first % all.length];
        sum(into, left, right1);
        right &= into.getAtIndex(ValueLayout.JAVA_FLOAT, t % 1000) == 3f;
      }
      System.out.println(right ? "right" : "wrong");
    }
  }

  private static void sum(MemorySegment into, MemorySegment left, MemorySegment right) {
    ReduceKernel reducer = Kernels.reducer(DType.FLOAT32, ReduceOp.SUM);
    for (long at = 0; at < BYTES; at += PIECE_BYTES) {
      reducer.combine(into, at, left, at, right, at, PIECE_BYTES / Float.BYTES);
    }
  }

  private static MemorySegment mapped() throws IOException {
    Path file = Files.createTempFile("weft", "mapped");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel.map(MapMode.READ_WRITE, 0, BYTES, Arena.ofAuto());
    } finally {
      Files.delete(file);
    }
  }
}
