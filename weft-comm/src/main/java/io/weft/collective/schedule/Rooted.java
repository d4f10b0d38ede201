// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import static java.lang.Math.floorMod;

import java.util.List;
import java.util.Objects;

/// An algorithm for root 0, rotated so that another rank is the root.
///
/// @param algorithm for root 0; one chunk
/// @param root the rank that replaces rank 0
public record Rooted(Algorithm algorithm, int root) implements Algorithm {
  public Rooted {
    Objects.requireNonNull(algorithm, "algorithm");
  }

  @Override
  public String name() {
    return algorithm.name();
  }

  @Override
  public int chunks(int size) {
    return algorithm.chunks(size);
  }

  @Override
  public List<List<Step>> schedule(int rank, int size) {
    return algorithm.schedule(floorMod(rank - root, size), size).stream()
        .map(round -> round.stream().map(step -> rotated(step, size)).toList())
        .toList();
  }

  private Step rotated(Step step, int size) {
    return step.at(step.chunk(), step.chunks(), floorMod(step.peer() + root, size));
  }
}
