// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/// Checks every K steps that all ranks have the same weights. Each rank computes 64 bits of each
/// tensor, and all ranks compare them by an allgather of 8 bytes per tensor and rank. One thread.
///
/// A difference is located by tensor and rank, and by time to K steps. The reference is the content
/// of the most ranks. In a tie, it is the content that includes the lowest rank.
public final class DivergenceSentinel {

  private static final String NAME = "weft/sentinel/";

  private final Communicator communicator;
  private final int every;
  private final DivergencePolicy policy;
  private final List<String> names;
  private final List<TensorView> tensors;
  private final TensorView own;
  private long steps;
  private long lastGood;
  private long firstBad = -1;

  /// Creates a sentinel of these tensors. They are borrowed while the sentinel is in use, and
  /// should be equal on all ranks at every check.
  ///
  /// @param every steps between two checks, at least 1
  /// @param weights tensors by name, in the same order on all ranks
  public DivergenceSentinel(
      Communicator communicator,
      int every,
      DivergencePolicy policy,
      SequencedMap<String, TensorView> weights) {
    if (every < 1) {
      throw new IllegalArgumentException("weights are checked every " + every + " steps; least 1");
    }
    this.communicator = communicator;
    this.every = every;
    this.policy = policy;
    this.names = List.copyOf(weights.sequencedKeySet());
    this.tensors = List.copyOf(weights.sequencedValues());
    Shape row = Shape.of(1, names.size());
    MemorySegment memory = Arena.ofAuto().allocate(Math.max(1, names.size()) * 8L, 64);
    this.own = new TensorView(DType.INT64, row, memory.asSlice(0, names.size() * 8L));
  }

  /// Returns true if the next `step` reads the weights, and with `HEAL` may write them.
  public boolean isNextCheck() {
    return (steps + 1) % every == 0;
  }

  /// Counts a training step, and checks the weights at every K-th step. A check is collective.
  /// Returns the differences, or empty if there are none; with `HEAL` the tensors are equal again.
  /// Throws `DivergedException` on all ranks with `STOP`, and the exceptions of collectives.
  public Optional<Divergence> step() throws InterruptedException {
    steps++;
    return steps % every == 0 ? check() : Optional.empty();
  }

  private Optional<Divergence> check() throws InterruptedException {
    for (int i = 0; i < tensors.size(); i++) {
      own.data().setAtIndex(JAVA_LONG_UNALIGNED, i, Fingerprint.of(tensors.get(i).data()));
    }
    List<Divergence.Difference> differences;
    try (TensorLease all =
        communicator.allgather(own, CollectiveOptions.named(NAME + "check")).await()) {
      differences = compare(all.view().data());
    }
    if (differences.isEmpty()) {
      lastGood = steps;
      firstBad = -1;
      return Optional.empty();
    }
    firstBad = firstBad < 0 ? steps : firstBad;
    var divergence = new Divergence(lastGood, firstBad, differences);
    switch (policy) {
      case WARN -> {}
      case STOP -> throw new DivergedException(divergence);
      case HEAL -> heal(differences);
    }
    return Optional.of(divergence);
  }

  private List<Divergence.Difference> compare(MemorySegment all) {
    List<Divergence.Difference> differences = new ArrayList<>();
    long[] contents = new long[communicator.size()];
    for (int tensor = 0; tensor < names.size(); tensor++) {
      for (int rank = 0; rank < contents.length; rank++) {
        long place = (long) rank * names.size() + tensor;
        contents[rank] = all.getAtIndex(JAVA_LONG_UNALIGNED, place);
      }
      long first = contents[0];
      if (Arrays.stream(contents).anyMatch(content -> content != first)) {
        differences.add(difference(names.get(tensor), contents));
      }
    }
    return differences;
  }

  /// Returns the difference of a tensor. Pure.
  ///
  /// @param contents fingerprints of the tensor, by rank
  static Divergence.Difference difference(String name, long[] contents) {
    int reference = 0;
    int most = 0;
    boolean tie = false;
    for (int rank = 0; rank < contents.length; rank++) {
      long content = contents[rank];
      int holders = (int) Arrays.stream(contents).filter(other -> other == content).count();
      if (holders > most) {
        reference = rank;
        most = holders;
        tie = false;
      } else if (holders == most && content != contents[reference]) {
        tie = true;
      }
    }
    List<Integer> others = new ArrayList<>();
    for (int rank = 0; rank < contents.length; rank++) {
      if (contents[rank] != contents[reference]) {
        others.add(rank);
      }
    }
    return new Divergence.Difference(
        name, others, reference, tie ? Divergence.Majority.TIE : Divergence.Majority.CLEAR);
  }

  private void heal(List<Divergence.Difference> differences) throws InterruptedException {
    for (Divergence.Difference difference : differences) {
      int tensor = names.indexOf(difference.tensor());
      var options = CollectiveOptions.named(NAME + "heal/" + tensor);
      var unused =
          communicator.broadcast(tensors.get(tensor), difference.reference(), options).await();
    }
    lastGood = steps;
    firstBad = -1;
  }
}
