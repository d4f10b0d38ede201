// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import io.weft.collective.schedule.Step.ReceiveCopy;
import io.weft.collective.schedule.Step.ReceiveReduce;
import io.weft.collective.schedule.Step.Send;
import java.util.ArrayList;
import java.util.List;

/// Collectives on the binomial tree rooted at rank 0: the parent of r is r without its lowest set
/// bit; log2 n rounds. `Rooted` selects another root.
public final class BinomialTree {

  private static final String NAME = "binomial-tree";

  private BinomialTree() {}

  /// Returns the algorithm that spreads rank 0's tensor.
  public static Algorithm broadcast() {
    return new NamedSchedule(NAME, size -> 1, BinomialTree::broadcast);
  }

  /// Returns the algorithm that reduces to rank 0, then spreads the result.
  public static Algorithm allreduce() {
    return new NamedSchedule(NAME, size -> 1, BinomialTree::allreduce);
  }

  private static void down(int rank, int size, List<List<Step>> rounds) {
    int lowest = rank == 0 ? Integer.highestOneBit(Math.max(1, size - 1)) * 2 : rank & -rank;
    if (rank != 0) {
      rounds.add(List.of(new ReceiveCopy(0, rank - lowest)));
    }
    for (int distance = lowest / 2; distance >= 1; distance /= 2) {
      if (rank + distance < size) {
        rounds.add(List.of(new Send(0, rank + distance)));
      }
    }
  }

  private static void up(int rank, int size, List<List<Step>> rounds) {
    int lowest = rank == 0 ? Integer.highestOneBit(Math.max(1, size - 1)) * 2 : rank & -rank;
    for (int distance = 1; distance < lowest; distance *= 2) {
      if (rank + distance < size) {
        rounds.add(List.of(new ReceiveReduce(0, rank + distance)));
      }
    }
    if (rank != 0) {
      rounds.add(List.of(new Send(0, rank - lowest)));
    }
  }

  private static List<List<Step>> broadcast(int rank, int size) {
    var rounds = new ArrayList<List<Step>>();
    down(rank, size, rounds);
    return rounds;
  }

  private static List<List<Step>> allreduce(int rank, int size) {
    var rounds = new ArrayList<List<Step>>();
    up(rank, size, rounds);
    down(rank, size, rounds);
    return rounds;
  }
}
