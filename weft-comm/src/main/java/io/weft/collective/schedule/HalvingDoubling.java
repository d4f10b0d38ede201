// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import io.weft.collective.schedule.Step.ReceiveCopy;
import io.weft.collective.schedule.Step.ReceiveReduce;
import io.weft.collective.schedule.Step.Send;
import java.util.ArrayList;
import java.util.List;

/// Allreduce by recursive halving, then recursive doubling [THAKUR05 §4.5]: the bytes of the ring
/// in 2 log2 n rounds of one message each, which carries half of the chunks that are left.
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
      rounds.add(List.of(new Send(0, chunks, rank + 1)));
      rounds.add(List.of(new ReceiveCopy(0, chunks, rank + 1)));
      return rounds;
    }
    if (folding.isHost(rank)) {
      rounds.add(List.of(new ReceiveReduce(0, chunks, rank - 1)));
    }
    int virtual = folding.virtual(rank);
    int from = 0;
    for (int half = chunks / 2; half >= 1; half /= 2) {
      int partner = folding.real(virtual ^ half);
      boolean lower = (virtual & half) == 0;
      int kept = lower ? from : from + half;
      int given = lower ? from + half : from;
      rounds.add(List.of(new Send(given, half, partner), new ReceiveReduce(kept, half, partner)));
      from = kept;
    }
    for (int owned = 1; owned < chunks; owned *= 2) {
      int partner = folding.real(virtual ^ owned);
      int theirs = from ^ owned;
      rounds.add(List.of(new Send(from, owned, partner), new ReceiveCopy(theirs, owned, partner)));
      from = Math.min(from, theirs);
    }
    if (folding.isHost(rank)) {
      rounds.add(List.of(new Send(0, chunks, rank - 1)));
    }
    return rounds;
  }
}
