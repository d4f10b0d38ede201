// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import static java.lang.Math.floorMod;

import io.weft.collective.schedule.Step.ReceiveCopy;
import io.weft.collective.schedule.Step.ReceiveReduce;
import io.weft.collective.schedule.Step.Send;
import java.util.ArrayList;
import java.util.List;

/// The three ring collectives [PY09 §3], [HVD18 p. 4]. Rank r sends only to r+1 and receives only
/// from r-1, in n-1 rounds per phase, and sends (n-1)/n of the bytes in each phase, which is
/// bandwidth-optimal.
public final class Ring {

  private static final String NAME = "ring";

  private Ring() {}

  /// Returns reduce-scatter followed by allgather; chunk c is complete first at rank c-1.
  public static Algorithm allreduce() {
    return new NamedSchedule(NAME, size -> size, Ring::allreduce);
  }

  /// Returns the algorithm that leaves the combined chunk r at rank r. Other chunks contain partial
  /// results afterwards.
  public static Algorithm reduceScatter() {
    return new NamedSchedule(NAME, size -> size, Ring::reduceScatter);
  }

  /// Returns the algorithm that spreads chunk r of rank r to all.
  public static Algorithm allgather() {
    return new NamedSchedule(NAME, size -> size, Ring::allgather);
  }

  private static List<List<Step>> allreduce(int rank, int n) {
    int next = floorMod(rank + 1, n);
    int prev = floorMod(rank - 1, n);
    var rounds = new ArrayList<List<Step>>();
    for (int t = 0; t < n - 1; t++) {
      rounds.add(
          List.of(
              new Send(floorMod(rank - t, n), next),
              new ReceiveReduce(floorMod(rank - t - 1, n), prev)));
    }
    for (int t = 0; t < n - 1; t++) {
      rounds.add(
          List.of(
              new Send(floorMod(rank + 1 - t, n), next),
              new ReceiveCopy(floorMod(rank - t, n), prev)));
    }
    return rounds;
  }

  private static List<List<Step>> reduceScatter(int rank, int n) {
    var rounds = new ArrayList<List<Step>>();
    for (int t = 0; t < n - 1; t++) {
      rounds.add(
          List.of(
              new Send(floorMod(rank - t - 1, n), floorMod(rank + 1, n)),
              new ReceiveReduce(floorMod(rank - t - 2, n), floorMod(rank - 1, n))));
    }
    return rounds;
  }

  private static List<List<Step>> allgather(int rank, int n) {
    var rounds = new ArrayList<List<Step>>();
    for (int t = 0; t < n - 1; t++) {
      rounds.add(
          List.of(
              new Send(floorMod(rank - t, n), floorMod(rank + 1, n)),
              new ReceiveCopy(floorMod(rank - t - 1, n), floorMod(rank - 1, n))));
    }
    return rounds;
  }
}
