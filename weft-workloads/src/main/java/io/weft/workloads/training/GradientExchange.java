// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.compress.Compression;
import java.nio.file.Path;
import java.util.Optional;

/// How the gradients of all ranks become one in each step of synchronous training. A value; the
/// same on all ranks. `toString` is what the command line says.
public sealed interface GradientExchange {

  /// As they are.
  GradientExchange PLAIN = new Averaged(new Compression.None());

  /// Each rank computes one gradient of its part of the batch, and these are averaged.
  ///
  /// @param compression how they travel
  record Averaged(Compression compression) implements GradientExchange {
    @Override
    public String toString() {
      return compression.toString();
    }
  }

  /// As they are; an autotuner finds out during the first steps which of them travel together, and
  /// in what segments.
  ///
  /// @param store directory where rank 0 keeps what was found, and looks before it searches; empty:
  ///   each run searches
  record Tuned(Optional<Path> store) implements GradientExchange {
    @Override
    public String toString() {
      return "on";
    }
  }

  /// As they are, each rank a share of their mean; each rank updates its share of the weights, and
  /// has that share of the optimizer's state.
  record InShares() implements GradientExchange {
    @Override
    public String toString() {
      return "on";
    }
  }

  /// The batch is cut into shards, however many ranks there are; each rank computes a gradient of
  /// each of its shards, and all are added in one order: the same bits for each number of ranks
  /// that divides the shards.
  ///
  /// @param count of shards, a power of two
  record Shards(int count) implements GradientExchange {
    /// Throws `IllegalArgumentException` for another number.
    public Shards {
      if (Integer.bitCount(count) != 1 || count < 1) {
        throw new IllegalArgumentException(count + " shards; expected a power of two");
      }
    }

    @Override
    public String toString() {
      return "shards:" + count;
    }
  }
}
