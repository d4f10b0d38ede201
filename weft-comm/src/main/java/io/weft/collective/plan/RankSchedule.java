// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.plan;

import io.weft.collective.schedule.Algorithm;
import io.weft.collective.schedule.Step;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// An algorithm's schedule for one rank, with its dependencies worked out once and kept: what must
/// have been received before a run of chunks may be sent, and what must have been sent before it
/// may change. Immutable.
///
/// Sends and receives are numbered in the order of the schedule; between two ranks both sides agree
/// on that order, so that the k-th segment that arrives needs no label.
public final class RankSchedule {

  private static final int NONE = -1;

  /// Neighbouring chunks that travel in one piece.
  public sealed interface Run permits Sending, Receiving {

    /// The other rank.
    int peer();

    /// The first chunk.
    int chunk();

    /// How many.
    public int chunks();
  }

  /// A send. `needs`: the receives of its chunks that must be applied before. `staged`: the peer
  /// combines it. `beside`: the receive that does not depend on it, nor its peer's send on anything
  /// that this one goes before, so that both may keep step; -1 if there is none.
  public record Sending(int peer, int chunk, int chunks, int[] needs, boolean staged, int beside)
      implements Run {

    /// Without one beside it.
    public Sending(int peer, int chunk, int chunks, int[] needs, boolean staged) {
      this(peer, chunk, chunks, needs, staged, NONE);
    }

    /// Whether a receive keeps step with it.
    public boolean hasBeside() {
      return beside != NONE;
    }

    /// Whether its chunks have been received here before, so that they lie in the result.
    public boolean received() {
      return needs.length > 0;
    }
  }

  /// A receive. `needs`: the receives of its chunks before it. `after`: sends of its chunks that
  /// must have left before. `last`: after it the chunks are combined completely, here.
  public record Receiving(
      int peer, int chunk, int chunks, boolean reduce, int[] needs, int[] after, boolean last)
      implements Run {

    /// Whether its chunks have been received here before.
    public boolean again() {
      return needs.length > 0;
    }
  }

  /// Receives that are combined with our contribution at once, in the tree of `AdditionOrder`.
  ///
  /// @param receives by their numbers, in the order of the tree's leaves, without ours
  /// @param own which leaf our contribution is
  public record Tree(int[] receives, int own) {}

  /// All sends to, or receives from, one peer, in order.
  public record Stream(int peer, int[] steps) {}

  private final int chunks;
  private final List<Sending> sends;
  private final List<Receiving> receives;
  private final List<Tree> trees;
  private final List<Stream> outgoing;
  private final List<Stream> incoming;

  private RankSchedule(
      int chunks, List<Sending> sends, List<Receiving> receives, List<Tree> trees) {
    this.chunks = chunks;
    this.sends = List.copyOf(sends);
    this.receives = List.copyOf(receives);
    this.trees = List.copyOf(trees);
    this.outgoing = streams(sends.stream().map(Sending::peer).toList());
    this.incoming = streams(receives.stream().map(Receiving::peer).toList());
  }

  /// Sends and receives that do not depend on each other, the same between two ranks on both.
  public static RankSchedule of(int chunks, List<Sending> sends, List<Receiving> receives) {
    return new RankSchedule(chunks, sends, receives, List.of());
  }

  public int chunks() {
    return chunks;
  }

  /// Whether two ranks exchange in each round, so that all sends have a receive beside them. The
  /// same on both.
  public boolean keepsStep() {
    return !sends.isEmpty() && sends.stream().allMatch(Sending::hasBeside);
  }

  public List<Sending> sends() {
    return sends;
  }

  public List<Receiving> receives() {
    return receives;
  }

  /// Which receives are combined together.
  public List<Tree> trees() {
    return trees;
  }

  public List<Stream> outgoing() {
    return outgoing;
  }

  public List<Stream> incoming() {
    return incoming;
  }

  /// Throws `IllegalStateException` if the algorithm joins chunks of different histories, or has a
  /// chunk received in place of one that was combined here and not sent since: its sender need not
  /// know that this rank has combined.
  public static RankSchedule of(Algorithm algorithm, int rank, int size) {
    Draft draft = new Draft(algorithm.chunks(size));
    Map<Integer, List<Boolean>> combines = new LinkedHashMap<>();
    List<List<Step>> schedule = algorithm.schedule(rank, size);
    boolean inStep = size == 2 && areTasks(schedule, algorithm.schedule(1 - rank, size));
    for (List<Step> round : schedule) {
      for (Step step : round) {
        if (step instanceof Step.Send send) {
          boolean staged =
              combines
                  .computeIfAbsent(send.peer(), p -> combining(algorithm, p, rank, size))
                  .removeFirst();
          draft.send(send, staged, inStep ? draft.receives.size() : NONE);
        }
      }
      draft.receiveAll(round.stream().filter(step -> !(step instanceof Step.Send)).toList());
    }
    return new RankSchedule(draft.lastReceive.length, draft.sends, draft.lastMarked(), draft.trees);
  }

  /// Whether in each round of two ranks both send once and receive once. Then what the other sends
  /// in a round needs nothing but what came to it in earlier rounds.
  private static boolean areTasks(List<List<Step>> mine, List<List<Step>> others) {
    return mine.size() == others.size()
        && mine.stream().allMatch(RankSchedule::isTask)
        && others.stream().allMatch(RankSchedule::isTask);
  }

  private static boolean isTask(List<Step> round) {
    return round.size() == 2 && round.stream().filter(Step.Send.class::isInstance).count() == 1;
  }

  /// For each receive of `peer` from `rank`, in order, whether the peer combines it.
  private static List<Boolean> combining(Algorithm algorithm, int peer, int rank, int size) {
    var kinds = new ArrayList<Boolean>();
    for (List<Step> round : algorithm.schedule(peer, size)) {
      for (Step step : round) {
        if (step.peer() == rank && !(step instanceof Step.Send)) {
          kinds.add(step.combines());
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

  /// A schedule that is being made.
  private static final class Draft {

    final List<Sending> sends = new ArrayList<>();
    final List<Receiving> receives = new ArrayList<>();
    final List<Tree> trees = new ArrayList<>();
    final int[] lastReceive;
    private final List<List<Integer>> sentOf = new ArrayList<>();

    /// Whether somebody else combines a chunk further after its last receive here.
    private final boolean[] handedOn;

    /// Whether a chunk has been combined here and not been sent since.
    private final boolean[] combined;

    Draft(int chunks) {
      this.lastReceive = new int[chunks];
      this.handedOn = new boolean[chunks];
      this.combined = new boolean[chunks];
      Arrays.fill(lastReceive, NONE);
      for (int c = 0; c < chunks; c++) {
        sentOf.add(new ArrayList<>());
      }
    }

    void send(Step.Send send, boolean staged, int beside) {
      int[] needs = needs(send);
      for (int c = send.chunk(); c < send.chunk() + send.chunks(); c++) {
        sentOf.get(c).add(sends.size());
        handedOn[c] |= staged;
        combined[c] = false;
      }
      sends.add(new Sending(send.peer(), send.chunk(), send.chunks(), needs, staged, beside));
    }

    /// The receives of one round.
    void receiveAll(List<Step> steps) {
      for (int i = 0; i < steps.size(); ) {
        int together = steps.get(i) instanceof Step.ReceiveLeaf leaf ? leaf.leaves() - 1 : 1;
        receive(steps.subList(i, i + together));
        i += together;
      }
    }

    /// What is applied at once, of one run: no part of it waits for another.
    private void receive(List<Step> together) {
      Step step = together.getFirst();
      int[] needs = needs(step);
      BitSet after = new BitSet();
      int first = receives.size();
      int last = first + together.size() - 1;
      for (int c = step.chunk(); c < step.chunk() + step.chunks(); c++) {
        sentOf.get(c).forEach(after::set);
        lastReceive[c] = last;
        handedOn[c] = false;
        if (combined[c] && !step.combines()) {
          throw new IllegalStateException(
              "chunk " + c + " may be written before what came for it is combined: " + step);
        }
        combined[c] = step.combines();
      }
      int[] before = after.stream().toArray();
      for (Step each : together) {
        receives.add(
            new Receiving(
                each.peer(), each.chunk(), each.chunks(), each.combines(), needs, before, false));
      }
      if (step instanceof Step.ReceiveLeaf leaf) {
        int[] byLeaf = new int[leaf.leaves()];
        for (int i = 0; i < together.size(); i++) {
          byLeaf[leafOf(together.get(i))] = first + i;
        }
        int[] others =
            IntStream.range(0, byLeaf.length)
                .filter(i -> i != leaf.own())
                .map(i -> byLeaf[i])
                .toArray();
        trees.add(new Tree(others, leaf.own()));
      }
    }

    private static int leafOf(Step step) {
      if (step instanceof Step.ReceiveLeaf leaf) {
        return leaf.leaf();
      }
      throw new IllegalStateException(step + " follows a leaf of a tree that is not complete");
    }

    /// The latest receives of a run's chunks.
    private int[] needs(Step step) {
      BitSet needs = new BitSet();
      int received = 0;
      for (int c = step.chunk(); c < step.chunk() + step.chunks(); c++) {
        if (lastReceive[c] != NONE) {
          needs.set(lastReceive[c]);
          received++;
        }
      }
      requireAllOrNone(step.chunk(), step.chunks(), received);
      return needs.stream().toArray();
    }

    /// A chunk is complete here after its last receive if that one combines and nobody else
    /// combines it further.
    List<Receiving> lastMarked() {
      List<Receiving> marked = new ArrayList<>(receives);
      for (int i = 0; i < marked.size(); i++) {
        Receiving r = marked.get(i);
        int complete = 0;
        for (int c = r.chunk(); r.reduce() && c < r.chunk() + r.chunks(); c++) {
          complete += lastReceive[c] == i && !handedOn[c] ? 1 : 0;
        }
        requireAllOrNone(r.chunk(), r.chunks(), complete);
        boolean last = complete > 0;
        marked.set(
            i,
            new Receiving(r.peer(), r.chunk(), r.chunks(), r.reduce(), r.needs(), r.after(), last));
      }
      return marked;
    }

    private static void requireAllOrNone(int chunk, int chunks, int some) {
      if (some != 0 && some != chunks) {
        throw new IllegalStateException(
            "the run of chunks "
                + chunk
                + " to "
                + (chunk + chunks - 1)
                + " has different histories: they cannot travel in one piece");
      }
    }
  }
}
