// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import java.util.List;
import java.util.function.IntUnaryOperator;

/// An algorithm of two functions.
///
/// @param name the name of the algorithm
/// @param chunksOf the number of chunks for a number of ranks
/// @param rounds the rounds of a rank
record NamedSchedule(String name, IntUnaryOperator chunksOf, Rounds rounds) implements Algorithm {

  /// A function from rank and size to rounds of steps.
  @FunctionalInterface
  interface Rounds {
    List<List<Step>> of(int rank, int size);
  }

  @Override
  public int chunks(int size) {
    return chunksOf.applyAsInt(size);
  }

  @Override
  public List<List<Step>> schedule(int rank, int size) {
    return rounds.of(rank, size);
  }
}
