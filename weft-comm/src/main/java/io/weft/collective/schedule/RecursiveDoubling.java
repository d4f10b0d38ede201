// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import io.weft.collective.schedule.Step.ReceiveCopy;
import io.weft.collective.schedule.Step.ReceiveReduce;
import io.weft.collective.schedule.Step.Send;
import java.util.ArrayList;
import java.util.List;

/// Allreduce by exchanging the whole tensor with partners at distance …, 4, 2, 1 [THAKUR05 §4.5]:
/// log2 n rounds, fewest for small tensors. The farthest partner comes first, as in
/// `HalvingDoubling`, so that both add the ranks of an element in the same order. Needs a transport
/// that has copied the sent bytes before the partner's are combined.
public record RecursiveDoubling() implements Algorithm {

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
    Folding folding = Folding.of(size);
    var rounds = new ArrayList<List<Step>>();
    if (folding.isGuest(rank)) {
      rounds.add(List.of(new Send(0, rank + 1)));
      rounds.add(List.of(new ReceiveCopy(0, rank + 1)));
      return rounds;
    }
    if (folding.isHost(rank)) {
      rounds.add(List.of(new ReceiveReduce(0, rank - 1)));
    }
    int virtual = folding.virtual(rank);
    for (int distance = folding.active() / 2; distance >= 1; distance /= 2) {
      int partner = folding.real(virtual ^ distance);
      rounds.add(List.of(new Send(0, partner), new ReceiveReduce(0, partner)));
    }
    if (folding.isHost(rank)) {
      rounds.add(List.of(new Send(0, rank - 1)));
    }
    return rounds;
  }
}
