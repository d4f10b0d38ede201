// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.choice.Segments;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SliceLayoutTest {

  /// The seed; `-Dweft.test.seed=N` repeats a run.
  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());

  private static final int RUNS = Boolean.getBoolean("weft.test.long") ? 300 : 100;

  private static SliceLayout random(SplittableRandom random) {
    int size = random.nextInt(2, 7);
    long segmentBytes = 64L * random.nextInt(64, 400);
    var segments =
        new SliceLayout.SegmentsOfBoth(
            new Segments(segmentBytes, 1, true),
            new Segments(segmentBytes, random.nextInt(1, 5), true));
    var sum = SliceLayout.Arithmetic.of(DType.INT32, ReduceOp.SUM, size);
    if (random.nextBoolean()) {
      MemorySegment tensor = Arena.ofAuto().allocate(4L * random.nextInt(0, 60_000), 64);
      return SliceLayout.allreduce(tensor, tensor, sum, size, segments);
    }
    long[] slices = new long[size + 1];
    for (int m = 0; m < size; m++) {
      slices[m + 1] = slices[m] + 4L * random.nextInt(0, 9_000);
    }
    MemorySegment tensor = Arena.ofAuto().allocate(slices[size], 64);
    return SliceLayout.reduceScatter(tensor, tensor, sum, slices, segments);
  }

  @Test
  void partsCoverEachSliceOnceAndNeverOverlapInABounceBuffer() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int run = 0; run < RUNS; run++) {
      SliceLayout layout = random(random);
      BitSet covered = new BitSet();
      for (int part = 0; part < layout.parts(); part++) {
        for (int m = 0; m < layout.size(); m++) {
          int begin = Math.toIntExact(layout.begin(m, part));
          int end = begin + Math.toIntExact(layout.bytes(m, part));
          assertThat(covered.get(begin, end).isEmpty()).as("seed %d", SEED).isTrue();
          covered.set(begin, end);
        }
        checkWindow(layout, part);
      }
      assertThat((long) covered.cardinality())
          .as("seed %d", SEED)
          .isEqualTo(layout.input().byteSize());
    }
  }

  /// Checks that the pieces of the parts that share a bounce buffer with part `last`, the latest of
  /// them, do not overlap.
  private static void checkWindow(SliceLayout layout, int last) {
    byte[] window = new byte[Math.toIntExact(layout.windowBytes())];
    for (int part = Math.max(0, last - layout.window() + 1); part <= last; part++) {
      for (int m = 0; m < layout.size(); m++) {
        int at = Math.toIntExact(layout.inWindow(m, part));
        int end = at + Math.toIntExact(layout.bytes(m, part));
        for (int i = at; i < end; i++) {
          if (window[i]++ != 0) {
            throw new AssertionError("pieces meet at " + i + ", seed " + SEED);
          }
        }
      }
    }
  }
}
