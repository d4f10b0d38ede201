// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.compress.Compression;

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
}
