// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import static java.lang.Math.floorMod;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/// Allreduce that crosses the network as little as it can: the ranks of a host combine their
/// tensors among themselves, each one a part; then the ranks with the same part on all hosts
/// combine it, all parts at the same time; then the ranks of a host share the parts. Of `m` bytes a
/// host sends about `2m` over the network, however many ranks it has, and all its ranks take part
/// in that.
///
/// There are as many parts as the smallest group of ranks on one host has members; ranks beyond
/// that number give and take only. On one host it is `Direct`, on hosts of one rank each the
/// algorithm between hosts.
public final class Hierarchical implements Algorithm {

  private final String name;

  /// The members of each host, in order.
  private final List<List<Integer>> hosts;

  private final int parts;
  private final Algorithm between;

  /// A ring joins the hosts: for long tensors. Rank r lives on host `hostOf.get(r)`; any numbers.
  public static Algorithm ring(List<Integer> hostOf) {
    return new Hierarchical("hierarchical-ring", hostOf, Ring.allreduce());
  }

  /// The same, but halving and doubling joins them: for shorter tensors, or many hosts.
  public static Algorithm halving(List<Integer> hostOf) {
    return new Hierarchical("hierarchical-halving", hostOf, new HalvingDoubling());
  }

  private Hierarchical(String name, List<Integer> hostOf, Algorithm between) {
    this.name = name;
    this.between = between;
    var groups = new TreeMap<Integer, List<Integer>>();
    for (int rank = 0; rank < hostOf.size(); rank++) {
      groups.computeIfAbsent(hostOf.get(rank), _ -> new ArrayList<>()).add(rank);
    }
    this.hosts = List.copyOf(groups.values());
    this.parts = hosts.stream().mapToInt(List::size).min().orElse(1);
  }

  @Override
  public String name() {
    return name;
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
    int host = 0;
    while (!hosts.get(host).contains(rank)) {
      host++;
    }
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

  /// Every local rank gives each part to the rank that keeps it, its right neighbour first.
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

  /// Every rank that keeps a part gives it to all local ranks.
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

  /// A step of host numbers, as one of the ranks that keep this part.
  private Step ofPart(Step step, int part) {
    int chunk = part * chunksOfPart() + step.chunk();
    int peer = hosts.get(step.peer()).get(part);
    return switch (step) {
      case Step.Send s -> new Step.Send(chunk, s.chunks(), peer);
      case Step.ReceiveReduce s -> new Step.ReceiveReduce(chunk, s.chunks(), peer);
      case Step.ReceiveCopy s -> new Step.ReceiveCopy(chunk, s.chunks(), peer);
    };
  }
}
