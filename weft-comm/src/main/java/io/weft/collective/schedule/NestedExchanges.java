// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.schedule;

import static java.lang.Math.floorMod;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Allreduce by nested exchanges among few ranks, which adds every element in one tree, wherever it
/// lies. First the ranks of a host scatter their tensors, so that each has a part of the host's
/// sum. Then the owners of a part on a few hosts scatter it, then the owners in a few such groups,
/// until the sums are complete. Finally the exchanges gather in reverse order. In an exchange every
/// member communicates with all others at once, and the keeper of a part combines the members'
/// contributions in the tree of `AdditionOrder`. With groups of two this is recursive halving and
/// doubling [THAKUR05 §4.5], which has the fewest messages. With groups of up to eight, one round
/// replaces three rounds of halving.
///
/// The groups are the subtrees of `AdditionOrder` over the hosts, cut at some depth. The order of
/// additions is therefore this tree, with the tree of each host's ranks below its leaf, regardless
/// of the groups. It is the tree over all ranks if every host has the same number of consecutive
/// ranks, a power of two.
///
/// For `m` bytes and `h` hosts, a host sends and receives `2m(h-1)/h` bytes, the minimum, if `h` is
/// a power of two or, in groups of eight, at most eight. Otherwise it is at most a tenth more,
/// except for three hosts in groups of two. Each host has as many ranks that communicate with other
/// hosts as the smallest host has ranks. On one host, its ranks are grouped as hosts otherwise are.
public final class NestedExchanges implements Algorithm {

  private final String name;

  /// The maximum number of runs, 1 or 2, in which a part is moved.
  private final int halves;

  private final List<List<Member>> paths = new ArrayList<>();

  /// For each level, innermost first, the chunks at which the runs begin that belong to one member
  /// of each exchange, followed by the end.
  private final List<int[]> cuts = new ArrayList<>();

  private final int chunks;

  /// An exchange, or the rank at which a path ends.
  ///
  /// @param level level of an exchange, from 0, the innermost; -1 for a rank
  /// @param rank the rank; -1 for an exchange
  /// @param members members of an exchange
  /// @param keepers number of members, the first ones, that keep a part
  private record Node(int level, int rank, List<Node> members, int keepers) {

    static Node leaf(int rank) {
      return new Node(-1, rank, List.of(), 0);
    }

    boolean isLeaf() {
      return members.isEmpty();
    }
  }

  /// A rank's place in one exchange.
  ///
  /// @param holders for each member and run, the rank of the member that contributes the run
  /// @param outer place in the next outer exchange, null if there is none
  private record Member(Node exchange, int place, int[][] holders, @Nullable Member outer) {

    int size() {
      return holders.length;
    }

    int keepers() {
      return exchange.keepers();
    }

    int at(int distance) {
      return floorMod(place + distance, size());
    }
  }

  /// A run of chunks.
  private record Run(int begin, int end) {

    Run part(int number, int of) {
      int length = (end - begin) / of;
      return new Run(begin + number * length, begin + (number + 1) * length);
    }

    int length() {
      return end - begin;
    }
  }

  /// Returns the algorithm in groups of up to eight, for long tensors. Rank r runs on host
  /// `hostOf.get(r)`; any numbers.
  public static Algorithm direct(List<Integer> hostOf) {
    return new NestedExchanges("nested-direct", hostOf, 3);
  }

  /// Returns the algorithm in groups of two, for shorter tensors. Rank r runs on host
  /// `hostOf.get(r)`; any numbers.
  public static Algorithm halving(List<Integer> hostOf) {
    return new NestedExchanges("nested-halving", hostOf, 1);
  }

  /// @param mostBits binary logarithm of the largest number of members of an exchange between hosts
  private NestedExchanges(String name, List<Integer> hostOf, int mostBits) {
    this.name = name;
    this.halves = mostBits == 1 ? 1 : 2;
    Placement placement = Placement.of(hostOf);
    int size = hostOf.size();
    List<List<Integer>> hosts = placement.hosts();
    boolean crowded = hosts.size() > 1 && hosts.size() < size;
    int parts = placement.fewest();
    List<Node> units =
        crowded
            ? hosts.stream().map(ranks -> host(ranks, parts)).toList()
            : hosts.stream().flatMap(List::stream).map(Node::leaf).toList();
    int first = crowded ? 1 : 0;
    int[] bits = bits(units.size(), mostBits);
    Node root = group(units, bits, bits.length - 1, first);
    List<NavigableSet<Integer>> keepers = new ArrayList<>();
    for (int level = 0; level < first + bits.length; level++) {
      keepers.add(new TreeSet<>());
    }
    collect(root, keepers);
    this.chunks =
        keepers.stream()
            .mapToInt(level -> level.stream().reduce(1, NestedExchanges::leastCommonMultiple))
            .reduce(1, Math::multiplyExact);
    cut(keepers);
    for (int rank = 0; rank < size; rank++) {
      paths.add(new ArrayList<>());
    }
    enter(root, null);
  }

  private static Node host(List<Integer> ranks, int parts) {
    return ranks.size() == 1
        ? Node.leaf(ranks.getFirst())
        : new Node(0, -1, ranks.stream().map(Node::leaf).toList(), parts);
  }

  /// Returns for each level, innermost first, the number of tree levels that its exchanges span,
  /// for a tree over this many hosts.
  private static int[] bits(int units, int mostBits) {
    int depth = units == 1 ? 0 : AdditionOrder.depth(units);
    int levels = Math.ceilDiv(depth, mostBits);
    return IntStream.range(0, levels).map(level -> (depth + level) / levels).toArray();
  }

  /// Returns the exchange between these units, with the exchanges inside it.
  private static Node group(List<Node> units, int[] bits, int level, int first) {
    if (units.size() == 1) {
      return units.getFirst();
    }
    List<Node> members =
        subtrees(units, bits[level]).stream()
            .map(subtree -> group(subtree, bits, level - 1, first))
            .toList();
    return new Node(first + level, -1, members, members.size());
  }

  private static List<List<Node>> subtrees(List<Node> units, int depth) {
    if (depth == 0 || units.size() == 1) {
      return List.of(units);
    }
    int left = AdditionOrder.left(units.size());
    List<List<Node>> all = new ArrayList<>(subtrees(units.subList(0, left), depth - 1));
    all.addAll(subtrees(units.subList(left, units.size()), depth - 1));
    return all;
  }

  /// Adds for each level the numbers of parts into which its exchanges cut.
  private static void collect(Node node, List<NavigableSet<Integer>> keepers) {
    if (!node.isLeaf()) {
      keepers.get(node.level()).add(node.keepers());
      node.members().forEach(member -> collect(member, keepers));
    }
  }

  private static int leastCommonMultiple(int a, int b) {
    int x = a;
    int y = b;
    while (y != 0) {
      int rest = x % y;
      x = y;
      y = rest;
    }
    return Math.multiplyExact(a / x, b);
  }

  private void cut(List<NavigableSet<Integer>> keepers) {
    int[] now = {0, chunks};
    for (NavigableSet<Integer> level : keepers) {
      cuts.add(now);
      var next = new TreeSet<Integer>();
      for (int i = 0; i + 1 < now.length; i++) {
        Run whole = new Run(now[i], now[i + 1]);
        next.add(whole.end());
        level.forEach(
            of -> IntStream.range(0, of).forEach(n -> next.add(whole.part(n, of).begin())));
      }
      next.add(0);
      now = next.stream().mapToInt(Integer::intValue).toArray();
    }
  }

  /// Adds the exchanges of each rank to its path, innermost first.
  private void enter(Node node, @Nullable Member outer) {
    if (node.isLeaf()) {
      for (Member member = outer; member != null; member = member.outer()) {
        paths.get(node.rank()).add(member);
      }
      return;
    }
    int[] at = cuts.get(node.level());
    int[][] holders =
        node.members().stream()
            .map(member -> IntStream.range(0, at.length - 1).map(i -> holder(member, at[i])))
            .map(IntStream::toArray)
            .toArray(int[][]::new);
    for (int place = 0; place < node.members().size(); place++) {
      enter(node.members().get(place), new Member(node, place, holders, outer));
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int chunks(int size) {
    return chunks;
  }

  @Override
  public List<List<Step>> schedule(int rank, int size) {
    var rounds = new ArrayList<List<Step>>();
    List<Member> path = paths.get(rank);
    for (Member member : path) {
      addTo(rounds, scatter(member, held(member, rank)));
    }
    for (Member member : path.reversed()) {
      addTo(rounds, gather(member, held(member, rank)));
    }
    return rounds;
  }

  private static void addTo(List<List<Step>> rounds, List<Step> round) {
    if (!round.isEmpty()) {
      rounds.add(round);
    }
  }

  /// Returns the numbers of the runs that this rank contributes to an exchange.
  private static int[] held(Member self, int rank) {
    int[] holders = self.holders()[self.place()];
    return IntStream.range(0, holders.length).filter(i -> holders[i] == rank).toArray();
  }

  private Run run(Member self, int number) {
    int[] at = cuts.get(self.exchange().level());
    return new Run(at[number], at[number + 1]);
  }

  /// Returns the rank that has this chunk after an exchange.
  private int holder(Node node, int chunk) {
    if (node.isLeaf()) {
      return node.rank();
    }
    int[] at = cuts.get(node.level());
    int found = Arrays.binarySearch(at, chunk);
    int i = found >= 0 ? found : -found - 2;
    long within = (long) chunk - at[i];
    int keeper = (int) (within * node.keepers() / (at[i + 1] - at[i]));
    return holder(node.members().get(keeper), chunk);
  }

  /// Every member sends each part to its keeper, the right neighbour's part first.
  private List<Step> scatter(Member self, int[] held) {
    var round = new ArrayList<Step>();
    for (int i : held) {
      for (int half = 0; half < halves; half++) {
        for (int d = 1; d < self.size(); d++) {
          int keeper = self.at(d);
          Run run = half(self, part(self, i, keeper), 1, half);
          if (run.length() > 0) {
            round.add(new Step.Send(run.begin(), run.length(), self.holders()[keeper][i]));
          }
        }
      }
    }
    for (int i : held) {
      for (int half = 0; half < halves; half++) {
        Run run = half(self, part(self, i, self.place()), 1, half);
        for (int d = 1; d < self.size() && run.length() > 0; d++) {
          int leaf = self.at(-d); // in the order in which they send
          round.add(combining(self, run, leaf, self.holders()[leaf][i]));
        }
      }
    }
    return round;
  }

  private static Step combining(Member self, Run run, int leaf, int peer) {
    return self.size() == 2
        ? new Step.ReceiveReduce(run.begin(), run.length(), peer)
        : new Step.ReceiveLeaf(run.begin(), run.length(), peer, leaf, self.place(), self.size());
  }

  /// Every keeper sends its part to all members, the left neighbour first. Each member thus
  /// receives the parts in turn, beginning with the part after its own.
  private List<Step> gather(Member self, int[] held) {
    var round = new ArrayList<Step>();
    for (int i : held) {
      for (int half = 0; half < halves; half++) {
        Run run = half(self, part(self, i, self.place()), 0, half);
        for (int d = 1; d < self.size() && run.length() > 0; d++) {
          round.add(new Step.Send(run.begin(), run.length(), self.holders()[self.at(-d)][i]));
        }
      }
    }
    for (int i : held) {
      for (int half = 0; half < halves; half++) {
        for (int d = 1; d < self.size(); d++) {
          int keeper = self.at(d);
          Run run = half(self, part(self, i, keeper), 0, half);
          if (run.length() > 0) {
            round.add(new Step.ReceiveCopy(run.begin(), run.length(), self.holders()[keeper][i]));
          }
        }
      }
    }
    return round;
  }

  /// Returns the part of a run that this member keeps; empty if the member is not a keeper.
  private Run part(Member self, int number, int keeper) {
    Run run = run(self, number);
    return keeper < self.keepers() ? run.part(keeper, self.keepers()) : new Run(0, 0);
  }

  /// Returns the run of a part that is moved first (`half` 0) or second (1). The order is that in
  /// which the next outer exchange needs or returns the chunks: from those of its own keeper
  /// (`behind` 0) or of the next one (1) to the end, then the others. Otherwise all ranks would
  /// send the first chunks at once, to one rank.
  private Run half(Member self, Run part, int behind, int half) {
    Member outer = self.outer();
    int first =
        halves == 1 || outer == null || part.length() == 0 || !isWhole(outer, part)
            ? 0
            : (outer.place() + behind) % outer.keepers() * (part.length() / outer.keepers());
    return half == 0
        ? new Run(part.begin() + first, part.end())
        : new Run(part.begin(), part.begin() + first);
  }

  /// Returns whether a part is a single run of the outer exchange.
  private boolean isWhole(Member outer, Run part) {
    int[] at = cuts.get(outer.exchange().level());
    int i = Arrays.binarySearch(at, part.begin());
    return at[i + 1] == part.end();
  }
}
