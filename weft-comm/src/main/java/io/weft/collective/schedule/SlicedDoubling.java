// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// `RecursiveDoubling` of one chunk per rank, each in a separate step, so that some chunks may be
/// empty: for the slices that single ranks could not combine in shared memory.
public record SlicedDoubling() implements Algorithm {

  @Override
  public String name() {
    return "sliced-doubling";
  }

  @Override
  public int chunks(int size) {
    return size;
  }

  @Override
  public List<List<Step>> schedule(int rank, int size) {
    return RecursiveDoubling.onOneHost(size).schedule(rank, size).stream()
        .map(round -> round.stream().flatMap(step -> ofEachChunk(step, size)).toList())
        .toList();
  }

  private static Stream<Step> ofEachChunk(Step step, int chunks) {
    return IntStream.range(0, chunks).mapToObj(chunk -> step.at(chunk, 1, step.peer()));
  }
}
