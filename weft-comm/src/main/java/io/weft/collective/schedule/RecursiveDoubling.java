// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import io.weft.collective.schedule.Step.ReceiveCopy;
import io.weft.collective.schedule.Step.ReceiveReduce;
import io.weft.collective.schedule.Step.Send;
import java.util.ArrayList;
import java.util.List;

/// Allreduce by exchanging the whole tensor with partners at distance 1, 2, 4, … [THAKUR05 §4.5]:
/// log2 n rounds, the fewest, for small tensors. The ranks of a host exchange first, then the
/// hosts. The order of additions is therefore the tree of `AdditionOrder` on each host, with the
/// tree of all hosts above it, as in `NestedExchanges`. Each host has as many ranks that exchange
/// with other hosts as the smallest host has ranks, rounded down to a power of two. The others
/// receive the result from these. Requires a transport that copies the sent bytes before the
/// partner's bytes are combined.
public final class RecursiveDoubling implements Algorithm {

  private final Placement placement;

  private RecursiveDoubling(Placement placement) {
    this.placement = placement;
  }

  /// Returns the algorithm where rank r runs on host `hostOf.get(r)`; any numbers.
  public static Algorithm onHosts(List<Integer> hostOf) {
    return new RecursiveDoubling(Placement.of(hostOf));
  }

  /// Returns the algorithm for this many ranks on one host.
  static Algorithm onOneHost(int size) {
    return new RecursiveDoubling(Placement.onOneHost(size));
  }

  @Override
  public String name() {
    return "recursive-doubling";
  }

  @Override
  public int chunks(int size) {
    return 1;
  }

  @Override
  public List<List<Step>> schedule(int rank, int size) {
    var rounds = new ArrayList<List<Step>>();
    int host = placement.hostOf(rank);
    List<Integer> locals = placement.hosts().get(host);
    Folding folding = Folding.of(locals.size());
    int local = locals.indexOf(rank);
    int width =
        placement.hosts().stream().mapToInt(on -> Folding.of(on.size()).active()).min().orElse(1);
    combine(locals, local, width, rounds);
    if (placement.hosts().size() > 1 && !folding.isGuest(local)) {
      int number = folding.virtual(local);
      if (number < width) {
        List<Integer> peers = placement.hosts().stream().map(on -> active(on, number)).toList();
        combine(peers, host, Folding.of(peers.size()).active(), rounds);
        unfold(peers, host, rounds);
      }
      spread(locals, number, width, rounds);
    }
    unfold(locals, local, rounds);
    return rounds;
  }

  /// Returns the rank with this number among the active ranks of a host.
  private static int active(List<Integer> locals, int number) {
    return locals.get(Folding.of(locals.size()).real(number));
  }

  /// Leaves the sum of all at the first `width` active ranks. The other ranks hand over their sums
  /// and combine no more, so a result that is later written into their memory finds no pending
  /// combination.
  private static void combine(List<Integer> ranks, int self, int width, List<List<Step>> rounds) {
    Folding folding = Folding.of(ranks.size());
    if (folding.isGuest(self)) {
      rounds.add(List.of(new Send(0, ranks.get(self + 1))));
      return;
    }
    if (folding.isHost(self)) {
      rounds.add(List.of(new ReceiveReduce(0, ranks.get(self - 1))));
    }
    int number = folding.virtual(self);
    for (int distance = 1; distance < folding.active(); distance *= 2) {
      int partner = ranks.get(folding.real(number ^ distance));
      if (distance < width) {
        rounds.add(List.of(new Send(0, partner), new ReceiveReduce(0, partner)));
      } else if ((number & distance) == 0) {
        rounds.add(List.of(new ReceiveReduce(0, partner)));
      } else {
        rounds.add(List.of(new Send(0, partner)));
        return;
      }
    }
  }

  /// Hands the result to the ranks that have handed over.
  private static void unfold(List<Integer> ranks, int self, List<List<Step>> rounds) {
    Folding folding = Folding.of(ranks.size());
    if (folding.isGuest(self)) {
      rounds.add(List.of(new ReceiveCopy(0, ranks.get(self + 1))));
    } else if (folding.isHost(self)) {
      rounds.add(List.of(new Send(0, ranks.get(self - 1))));
    }
  }

  /// Spreads the result from the first `width` active ranks of a host to the others. Each round
  /// doubles the number of ranks that have it.
  private static void spread(List<Integer> locals, int number, int width, List<List<Step>> rounds) {
    int all = Folding.of(locals.size()).active();
    for (int have = width; have < all; have *= 2) {
      if (number < have) {
        rounds.add(List.of(new Send(0, active(locals, number + have))));
      } else if (number < 2 * have) {
        rounds.add(List.of(new ReceiveCopy(0, active(locals, number - have))));
      }
    }
  }
}
