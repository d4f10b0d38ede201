// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import static java.lang.Math.floorMod;

import io.weft.collective.schedule.Step.ReceiveCopy;
import io.weft.collective.schedule.Step.ReceiveLeaf;
import io.weft.collective.schedule.Step.ReceiveReduce;
import io.weft.collective.schedule.Step.Send;
import java.util.ArrayList;
import java.util.List;

/// Collectives in which every rank exchanges with all others at once, beginning with its right
/// neighbour: one round per phase, n-1 messages per rank.
public final class Direct {

  private static final String NAME = "direct";

  private Direct() {}

  /// Returns the algorithm that sends chunk c to rank c, which combines the chunks of all ranks in
  /// the tree of `AdditionOrder`.
  public static Algorithm reduceScatter() {
    return new NamedSchedule(NAME, size -> size, Direct::scatter);
  }

  /// Returns the algorithm that sends chunk r of rank r to all.
  public static Algorithm allgather() {
    return new NamedSchedule(NAME, size -> size, Direct::gather);
  }

  /// Returns the algorithm that sends chunk `s * n + d` from rank s to rank d.
  public static Algorithm alltoall() {
    return new NamedSchedule(NAME, size -> size * size, Direct::exchange);
  }

  private static List<List<Step>> scatter(int rank, int n) {
    var round = new ArrayList<Step>();
    for (int d = 1; d < n; d++) {
      int peer = floorMod(rank + d, n);
      round.add(new Send(peer, peer));
    }
    for (int d = 1; d < n; d++) {
      int peer = floorMod(rank - d, n); // in the order in which they send
      round.add(
          n == 2 ? new ReceiveReduce(rank, peer) : new ReceiveLeaf(rank, 1, peer, peer, rank, n));
    }
    return List.of(round);
  }

  private static List<List<Step>> gather(int rank, int n) {
    var round = new ArrayList<Step>();
    for (int d = 1; d < n; d++) {
      round.add(new Send(rank, floorMod(rank + d, n)));
    }
    for (int d = 1; d < n; d++) {
      int peer = floorMod(rank - d, n);
      round.add(new ReceiveCopy(peer, peer));
    }
    return List.of(round);
  }

  private static List<List<Step>> exchange(int rank, int n) {
    var round = new ArrayList<Step>();
    for (int d = 1; d < n; d++) {
      int peer = floorMod(rank + d, n);
      round.add(new Send(rank * n + peer, peer));
    }
    for (int d = 1; d < n; d++) {
      int peer = floorMod(rank - d, n);
      round.add(new ReceiveCopy(peer * n + rank, peer));
    }
    return List.of(round);
  }
}
