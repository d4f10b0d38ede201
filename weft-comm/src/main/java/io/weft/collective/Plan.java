// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.schedule.Algorithm;
import io.weft.collective.schedule.Step;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// An algorithm's schedule for one rank, with its dependencies worked out once and kept: what must
/// have been received before a chunk may be sent, and what must have been sent before it may
/// change. Immutable.
///
/// Sends and receives are numbered in the order of the schedule; between two ranks both sides agree
/// on that order, so that the k-th segment that arrives needs no label.
final class Plan {

  private static final int NONE = -1;

  /// A send. `needs`: the receive that must be applied before, -1 = none. `staged`: the peer
  /// combines it.
  record Sending(int peer, int chunk, int needs, boolean staged) {}

  /// A receive. `needs`: the receive of the same chunk before it, -1 = none. `after`: sends of the
  /// same chunk that must have left before. `last`: after it the chunk is combined completely,
  /// here.
  record Receiving(int peer, int chunk, boolean reduce, int needs, int[] after, boolean last) {}

  /// All sends to, or receives from, one peer, in order.
  record Stream(int peer, int[] steps) {}

  private final int chunks;
  private final List<Sending> sends;
  private final List<Receiving> receives;
  private final List<Stream> outgoing;
  private final List<Stream> incoming;

  private Plan(int chunks, List<Sending> sends, List<Receiving> receives) {
    this.chunks = chunks;
    this.sends = List.copyOf(sends);
    this.receives = List.copyOf(receives);
    this.outgoing = streams(sends.stream().map(Sending::peer).toList());
    this.incoming = streams(receives.stream().map(Receiving::peer).toList());
  }

  int chunks() {
    return chunks;
  }

  List<Sending> sends() {
    return sends;
  }

  List<Receiving> receives() {
    return receives;
  }

  List<Stream> outgoing() {
    return outgoing;
  }

  List<Stream> incoming() {
    return incoming;
  }

  static Plan of(Algorithm algorithm, int rank, int size) {
    List<List<Step>> rounds = algorithm.schedule(rank, size);
    int chunks = algorithm.chunks(size);
    List<Sending> sends = new ArrayList<>();
    List<Receiving> receives = new ArrayList<>();
    int[] lastReceive = new int[chunks];
    java.util.Arrays.fill(lastReceive, NONE);
    List<List<Integer>> sentOf = new ArrayList<>();
    for (int c = 0; c < chunks; c++) {
      sentOf.add(new ArrayList<>());
    }
    Map<Integer, List<Boolean>> combines = new LinkedHashMap<>();
    for (List<Step> round : rounds) {
      for (Step step : round) {
        if (step instanceof Step.Send send) {
          boolean staged =
              combines
                  .computeIfAbsent(send.peer(), p -> combining(algorithm, p, rank, size))
                  .removeFirst();
          sentOf.get(send.chunk()).add(sends.size());
          sends.add(new Sending(send.peer(), send.chunk(), lastReceive[send.chunk()], staged));
        }
      }
      for (Step step : round) {
        int c = step.chunk();
        if (!(step instanceof Step.Send)) {
          int[] after = sentOf.get(c).stream().mapToInt(Integer::intValue).toArray();
          boolean reduce = step instanceof Step.ReceiveReduce;
          receives.add(new Receiving(step.peer(), c, reduce, lastReceive[c], after, false));
          lastReceive[c] = receives.size() - 1;
        }
      }
    }
    return new Plan(chunks, sends, lastMarked(sends, receives, lastReceive));
  }

  /// A chunk is complete here after its last receive if that one combines and nobody else combines
  /// it further.
  private static List<Receiving> lastMarked(
      List<Sending> sends, List<Receiving> receives, int[] lastReceive) {
    List<Receiving> marked = new ArrayList<>(receives);
    boolean[] partial = new boolean[receives.size()];
    for (Sending send : sends) {
      if (send.needs() != NONE && send.staged()) {
        partial[send.needs()] = true;
      }
    }
    for (int i : lastReceive) {
      if (i != NONE && receives.get(i).reduce() && !partial[i]) {
        Receiving r = receives.get(i);
        marked.set(i, new Receiving(r.peer(), r.chunk(), true, r.needs(), r.after(), true));
      }
    }
    return marked;
  }

  /// For each receive of `peer` from `rank`, in order, whether the peer combines it.
  private static List<Boolean> combining(Algorithm algorithm, int peer, int rank, int size) {
    var kinds = new ArrayList<Boolean>();
    for (List<Step> round : algorithm.schedule(peer, size)) {
      for (Step step : round) {
        if (step.peer() == rank && !(step instanceof Step.Send)) {
          kinds.add(step instanceof Step.ReceiveReduce);
        }
      }
    }
    return kinds;
  }

  private static List<Stream> streams(List<Integer> peers) {
    Map<Integer, List<Integer>> byPeer = new LinkedHashMap<>();
    for (int i = 0; i < peers.size(); i++) {
      byPeer.computeIfAbsent(peers.get(i), p -> new ArrayList<>()).add(i);
    }
    return byPeer.entrySet().stream()
        .map(
            e ->
                new Stream(e.getKey(), e.getValue().stream().mapToInt(Integer::intValue).toArray()))
        .toList();
  }
}
