// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import io.weft.collective.schedule.Step.ReceiveCopy;
import io.weft.collective.schedule.Step.ReceiveReduce;
import io.weft.collective.schedule.Step.Send;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/// Allreduce by recursive halving, then recursive doubling [THAKUR05 §4.5]: the bytes of the ring
/// in 2 log2 n rounds.
public record HalvingDoubling() implements Algorithm {

  @Override
  public String name() {
    return "halving-doubling";
  }

  @Override
  public int chunks(int size) {
    return Integer.highestOneBit(size);
  }

  @Override
  public List<List<Step>> schedule(int rank, int size) {
    Folding folding = Folding.of(size);
    int chunks = folding.active();
    var rounds = new ArrayList<List<Step>>();
    if (folding.isGuest(rank)) {
      rounds.add(each(0, chunks, c -> new Send(c, rank + 1)));
      rounds.add(each(0, chunks, c -> new ReceiveCopy(c, rank + 1)));
      return rounds;
    }
    if (folding.isHost(rank)) {
      rounds.add(each(0, chunks, c -> new ReceiveReduce(c, rank - 1)));
    }
    int virtual = folding.virtual(rank);
    int from = 0;
    for (int half = chunks / 2; half >= 1; half /= 2) {
      int partner = folding.real(virtual ^ half);
      boolean lower = (virtual & half) == 0;
      int kept = lower ? from : from + half;
      int given = lower ? from + half : from;
      var round = new ArrayList<>(each(given, half, c -> new Send(c, partner)));
      round.addAll(each(kept, half, c -> new ReceiveReduce(c, partner)));
      rounds.add(round);
      from = kept;
    }
    for (int owned = 1; owned < chunks; owned *= 2) {
      int partner = folding.real(virtual ^ owned);
      int theirs = from ^ owned;
      var round = new ArrayList<>(each(from, owned, c -> new Send(c, partner)));
      round.addAll(each(theirs, owned, c -> new ReceiveCopy(c, partner)));
      rounds.add(round);
      from = Math.min(from, theirs);
    }
    if (folding.isHost(rank)) {
      rounds.add(each(0, chunks, c -> new Send(c, rank - 1)));
    }
    return rounds;
  }

  private static List<Step> each(int from, int count, IntFunction<Step> step) {
    return IntStream.range(from, from + count).mapToObj(step).toList();
  }
}
