// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;

/// Computes the maximum over all ranks so that all ranks decide alike. It must not run inside a
/// timed call.
public final class RankMaximum {

  private static final CollectiveOptions OPTIONS = CollectiveOptions.named("perf/agree");

  private RankMaximum() {}

  /// Replaces each nanosecond count by the maximum over all ranks. The result is exact below 2^53.
  /// Blocks.
  public static void largest(Communicator communicator, long[] nanos) throws InterruptedException {
    try (Arena arena = Arena.ofShared()) {
      TensorView tensor =
          new TensorView(
              DType.FLOAT64,
              Shape.of(nanos.length),
              arena.allocate((long) nanos.length * Double.BYTES, Double.BYTES));
      for (int i = 0; i < nanos.length; i++) {
        tensor.data().setAtIndex(ValueLayout.JAVA_DOUBLE, i, (double) nanos[i]);
      }
      communicator.allreduce(tensor, tensor, ReduceOp.MAX, OPTIONS).await();
      for (int i = 0; i < nanos.length; i++) {
        nanos[i] = (long) tensor.data().getAtIndex(ValueLayout.JAVA_DOUBLE, i);
      }
    }
  }

  /// Returns the maximum of one count per rank.
  public static long largest(Communicator communicator, long nanos) throws InterruptedException {
    long[] one = {nanos};
    largest(communicator, one);
    return one[0];
  }
}
