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
import java.util.Objects;

/// The ranks of a measurement as they meet and agree outside the timed calls, through the measured
/// library. Confined to the rank's main thread.
public interface RankGroup {

  /// Returns the number of this rank.
  int rank();

  /// Returns the number of ranks.
  int size();

  /// Blocks until all ranks have called it.
  void barrier() throws InterruptedException;

  /// Replaces each count by its maximum over all ranks, so that all ranks decide alike. Blocks.
  void largest(long[] counts) throws InterruptedException;

  /// Returns the maximum of one count per rank.
  default long largest(long count) throws InterruptedException {
    long[] one = {count};
    largest(one);
    return one[0];
  }

  /// Returns the ranks of a communicator. A maximum is exact below 2^53.
  static RankGroup of(Communicator communicator) {
    return new OfCommunicator(Objects.requireNonNull(communicator));
  }

  /// The ranks of a communicator.
  record OfCommunicator(Communicator communicator) implements RankGroup {

    private static final CollectiveOptions MEETING = CollectiveOptions.named("perf/meet");
    private static final CollectiveOptions MAXIMUM = CollectiveOptions.named("perf/agree");

    @Override
    public int rank() {
      return communicator.rank();
    }

    @Override
    public int size() {
      return communicator.size();
    }

    @Override
    public void barrier() throws InterruptedException {
      communicator.barrier(MEETING).await();
    }

    @Override
    public void largest(long[] counts) throws InterruptedException {
      try (Arena arena = Arena.ofShared()) {
        TensorView tensor =
            new TensorView(
                DType.FLOAT64,
                Shape.of(counts.length),
                arena.allocate((long) counts.length * Double.BYTES, Double.BYTES));
        for (int i = 0; i < counts.length; i++) {
          tensor.data().setAtIndex(ValueLayout.JAVA_DOUBLE, i, (double) counts[i]);
        }
        communicator.allreduce(tensor, tensor, ReduceOp.MAX, MAXIMUM).await();
        for (int i = 0; i < counts.length; i++) {
          counts[i] = (long) tensor.data().getAtIndex(ValueLayout.JAVA_DOUBLE, i);
        }
      }
    }
  }
}
