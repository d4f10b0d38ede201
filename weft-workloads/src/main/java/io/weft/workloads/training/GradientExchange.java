// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.compress.Compression;
import java.nio.file.Path;
import java.util.Optional;

/// The exchange of gradients in each step of synchronous training. A value that is equal on all
/// ranks. `toString` returns the option value of the command line.
public sealed interface GradientExchange {

  /// An average of uncompressed gradients.
  GradientExchange PLAIN = new Averaged(new Compression.None());

  /// An average of one gradient per rank, computed over its part of the batch.
  ///
  /// @param compression of the gradients in transit
  /// @param passes in which a rank computes its part, at least 1; their gradients are summed
  /// @param largestNorm the norm, above 0, to which a longer gradient of all variables together is
  ///   scaled; infinite: none is scaled
  record Averaged(Compression compression, int passes, double largestNorm)
      implements GradientExchange {

    /// Creates an average of gradients that are computed in one pass and not clipped.
    public Averaged(Compression compression) {
      this(compression, 1, Double.POSITIVE_INFINITY);
    }

    @Override
    public String toString() {
      return compression.toString();
    }
  }

  /// An average of uncompressed gradients. During the first steps an autotuner determines which
  /// gradients are fused and the size of the segments.
  ///
  /// @param store the directory in which rank 0 keeps tuned values, and where it looks before a
  ///   search; if empty, each run searches
  record Tuned(Optional<Path> store) implements GradientExchange {
    @Override
    public String toString() {
      return "on";
    }
  }

  /// An average of uncompressed gradients in which each rank receives a share of the mean. Each
  /// rank updates its share of the weights and keeps that share of the optimizer's state.
  record InShares() implements GradientExchange {
    @Override
    public String toString() {
      return "on";
    }
  }

  /// A sum over shards of the batch, whose number does not depend on the number of ranks. Each rank
  /// computes a gradient for each of its shards, and all gradients are added in one order. The
  /// result is bitwise equal for each number of ranks that divides the number of shards.
  ///
  /// @param count of shards, a power of two
  record Shards(int count) implements GradientExchange {
    /// Throws `IllegalArgumentException` if the number is not a power of two.
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
