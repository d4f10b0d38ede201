// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import static java.lang.Math.floorMod;

import java.util.ArrayList;
import java.util.List;

/// Allreduce with the least traffic between hosts. First the ranks of a host combine their tensors
/// among themselves, one part each. Then the ranks with the same part on all hosts combine it by a
/// ring, all parts concurrently. Finally the ranks of a host share the parts. For `m` bytes a host
/// sends about `2m` over the network, regardless of the number of its ranks, and all of them
/// participate.
///
/// The number of parts is the number of ranks on the smallest host. On other hosts, ranks beyond
/// this number only hand over and receive. On hosts of one rank each the algorithm is `Ring`.
public final class Hierarchical implements Algorithm {

  private final Algorithm between = Ring.allreduce();

  /// The ranks of each host, in order.
  private final List<List<Integer>> hosts;

  private final int parts;

  /// Returns the algorithm where rank r runs on host `hostOf.get(r)`; any numbers.
  public static Algorithm ring(List<Integer> hostOf) {
    return new Hierarchical(Placement.of(hostOf));
  }

  private Hierarchical(Placement placement) {
    this.hosts = placement.hosts();
    this.parts = placement.fewest();
  }

  @Override
  public String name() {
    return "hierarchical-ring";
  }

  @Override
  public int chunks(int size) {
    return parts * chunksOfPart();
  }

  private int chunksOfPart() {
    return hosts.size() == 1 ? 1 : between.chunks(hosts.size());
  }

  @Override
  public List<List<Step>> schedule(int rank, int size) {
    int host = new Placement(hosts).hostOf(rank);
    List<Integer> locals = hosts.get(host);
    int part = locals.indexOf(rank);
    var rounds = new ArrayList<List<Step>>();
    if (locals.size() > 1) {
      rounds.add(combine(locals, part));
    }
    if (part < parts && hosts.size() > 1) {
      for (List<Step> round : between.schedule(host, hosts.size())) {
        rounds.add(round.stream().map(step -> ofPart(step, part)).toList());
      }
    }
    if (locals.size() > 1) {
      rounds.add(share(locals, part));
    }
    return rounds;
  }

  /// Every local rank sends each part to the rank that owns it, its right neighbour first.
  private List<Step> combine(List<Integer> locals, int self) {
    int run = chunksOfPart();
    var round = new ArrayList<Step>();
    for (int d = 1; d < locals.size(); d++) {
      int owner = floorMod(self + d, locals.size());
      if (owner < parts) {
        round.add(new Step.Send(owner * run, run, locals.get(owner)));
      }
    }
    for (int d = 1; d < locals.size() && self < parts; d++) {
      int peer = locals.get(floorMod(self + d, locals.size()));
      round.add(new Step.ReceiveReduce(self * run, run, peer));
    }
    return round;
  }

  /// Every rank that owns a part sends it to all local ranks.
  private List<Step> share(List<Integer> locals, int self) {
    int run = chunksOfPart();
    var round = new ArrayList<Step>();
    for (int d = 1; d < locals.size() && self < parts; d++) {
      round.add(new Step.Send(self * run, run, locals.get(floorMod(self + d, locals.size()))));
    }
    for (int d = 1; d < locals.size(); d++) {
      int owner = floorMod(self - d, locals.size());
      if (owner < parts) {
        round.add(new Step.ReceiveCopy(owner * run, run, locals.get(owner)));
      }
    }
    return round;
  }

  /// Converts a step between host numbers to a step between the ranks that own this part.
  private Step ofPart(Step step, int part) {
    int chunk = part * chunksOfPart() + step.chunk();
    return step.at(chunk, step.chunks(), hosts.get(step.peer()).get(part));
  }
}
