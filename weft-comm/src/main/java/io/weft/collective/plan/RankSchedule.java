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

/// An algorithm's schedule for one rank with precomputed dependencies: the receives that must
/// precede the send of a run of chunks, and the sends that must precede a change of the run.
/// Immutable.
///
/// Sends and receives are numbered in the order of the schedule. Two ranks agree on the order
/// between them, so the k-th segment that arrives needs no label.
public final class RankSchedule {

  private static final int NONE = -1;

  /// Neighbouring chunks that are sent in one piece.
  public sealed interface Run permits Sending, Receiving {

    /// Returns the other rank.
    int peer();

    /// Returns the first chunk.
    int chunk();

    public int chunks();
  }

  /// A send. `needs` are the receives of its chunks that must be applied first. `staged` is true if
  /// the peer combines the run. `beside` is the receive with which this send may keep step, or -1.
  /// That receive does not depend on this send, and the peer's matching send does not depend on
  /// this or later ones.
  public record Sending(int peer, int chunk, int chunks, int[] needs, boolean staged, int beside)
      implements Run {

    /// Creates a send without a receive beside it.
    public Sending(int peer, int chunk, int chunks, int[] needs, boolean staged) {
      this(peer, chunk, chunks, needs, staged, NONE);
    }

    /// Returns whether a receive keeps step with this send.
    public boolean hasBeside() {
      return beside != NONE;
    }

    /// Returns whether its chunks were received here before, which means that they are in the
    /// result.
    public boolean received() {
      return needs.length > 0;
    }
  }

  /// A receive. `needs` are the earlier receives of its chunks. `after` are the sends of its chunks
  /// that must have left before. `last` is true if it completes the combination of the chunks on
  /// this rank.
  public record Receiving(
      int peer, int chunk, int chunks, boolean reduce, int[] needs, int[] after, boolean last)
      implements Run {

    /// Returns whether its chunks were received here before.
    public boolean again() {
      return needs.length > 0;
    }
  }

  /// Receives that are combined with this rank's contribution at once, in the tree of
  /// `AdditionOrder`.
  ///
  /// @param receives numbers of the receives in the order of the tree's leaves, without this rank's
  ///   leaf
  /// @param own index of the leaf of this rank's contribution
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

  /// Creates a schedule of independent sends and receives. Two ranks must agree on those between
  /// them.
  public static RankSchedule of(int chunks, List<Sending> sends, List<Receiving> receives) {
    return new RankSchedule(chunks, sends, receives, List.of());
  }

  public int chunks() {
    return chunks;
  }

  /// Returns whether two ranks exchange in each round, so that every send has a receive beside it.
  /// Equal on both ranks.
  public boolean keepsStep() {
    return !sends.isEmpty() && sends.stream().allMatch(Sending::hasBeside);
  }

  public List<Sending> sends() {
    return sends;
  }

  public List<Receiving> receives() {
    return receives;
  }

  public List<Tree> trees() {
    return trees;
  }

  public List<Stream> outgoing() {
    return outgoing;
  }

  public List<Stream> incoming() {
    return incoming;
  }

  /// Creates a rank's schedule of an algorithm. Throws `IllegalStateException` if the algorithm
  /// joins chunks of different histories, or lets a received chunk replace one that was combined
  /// here and not sent since, because the sender may not know that this rank has combined.
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

  /// Returns whether both of two ranks send once and receive once in each round. Then a peer's send
  /// depends only on receives of earlier rounds.
  private static boolean areTasks(List<List<Step>> mine, List<List<Step>> others) {
    return mine.size() == others.size()
        && mine.stream().allMatch(RankSchedule::isTask)
        && others.stream().allMatch(RankSchedule::isTask);
  }

  private static boolean isTask(List<Step> round) {
    return round.size() == 2 && round.stream().filter(Step.Send.class::isInstance).count() == 1;
  }

  /// Returns for each receive of `peer` from `rank`, in order, whether the peer combines it.
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

  /// A schedule under construction.
  private static final class Draft {

    final List<Sending> sends = new ArrayList<>();
    final List<Receiving> receives = new ArrayList<>();
    final List<Tree> trees = new ArrayList<>();
    final int[] lastReceive;
    private final List<List<Integer>> sentOf = new ArrayList<>();

    /// True for a chunk that another rank combines further after its last receive here.
    private final boolean[] handedOn;

    /// True for a chunk that has been combined here and not been sent since.
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

    void receiveAll(List<Step> steps) {
      for (int i = 0; i < steps.size(); ) {
        int together = steps.get(i) instanceof Step.ReceiveLeaf leaf ? leaf.leaves() - 1 : 1;
        receive(steps.subList(i, i + together));
        i += together;
      }
    }

    /// Adds receives of one run that are applied at once. None of them waits for another.
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
              "chunk " + c + " may be written before its received data is combined: " + step);
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

    /// Returns the latest receives of a run's chunks.
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

    /// Marks the receives that complete their chunks here: the last receive of a chunk, if it
    /// combines and no other rank combines the chunk further.
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
                + " has different histories and cannot be sent in one piece");
      }
    }
  }
}
