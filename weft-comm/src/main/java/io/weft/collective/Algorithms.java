// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Ladder;
import io.weft.collective.choice.Layout;
import io.weft.collective.choice.Rule;
import io.weft.collective.schedule.Algorithm;
import io.weft.collective.schedule.BinomialTree;
import io.weft.collective.schedule.Direct;
import io.weft.collective.schedule.HalvingDoubling;
import io.weft.collective.schedule.Hierarchical;
import io.weft.collective.schedule.RecursiveDoubling;
import io.weft.collective.schedule.Ring;
import io.weft.collective.schedule.Rooted;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Which algorithms there are for each collective, and which is taken for a size and a number of
/// ranks. Thread-safe.
public final class Algorithms {

  /// Works on the memory of other ranks where it lies; no schedule.
  static final String SHARED = "shared";

  static final String RECURSIVE_DOUBLING = "recursive-doubling";

  /// That of every barrier.
  static final String MEETING = RECURSIVE_DOUBLING;

  private final Map<PlanKey, Plan> plans = new ConcurrentHashMap<>();
  private final List<Integer> hosts;
  private final boolean sharesMemory;
  private final Map<Kind, Ladder> together = new EnumMap<>(Kind.class);
  private final Map<Kind, Ladder> apart = new EnumMap<>(Kind.class);

  /// For ranks of which rank r lives on host `hosts.get(r)`, and which may share memory or not;
  /// with no plans yet, it keeps those it makes.
  Algorithms(AlgorithmTable table, List<Integer> hosts, boolean sharesMemory) {
    this.hosts = List.copyOf(hosts);
    this.sharesMemory = sharesMemory;
    for (Kind kind : Kind.values()) {
      together.put(kind, table.ladder(kind.words(), Layout.of(hosts, sharesMemory)));
      apart.put(kind, table.ladder(kind.words(), Layout.of(hosts, false)));
    }
  }

  private record PlanKey(Kind kind, String name, int root, int rank) {}

  /// For tests and tools: the names that `CollectiveOptions.by` takes for allreduce on every
  /// transport. (`shared` is one more, for ranks that share memory.)
  public static List<String> allreduceNames() {
    return all(Kind.ALLREDUCE, List.of(0)).stream().map(Algorithm::name).toList();
  }

  /// The table by which algorithms are chosen: the shipped one, behind the lines of `own` if there
  /// is such a file. Throws `IllegalArgumentException` that names file, line and what is allowed.
  public static AlgorithmTable table(Optional<Path> own) {
    return AlgorithmTable.load(
        own,
        Stream.of(Kind.values()).collect(Collectors.toMap(Kind::words, Algorithms::selectable)));
  }

  /// What a table may name.
  private static List<String> selectable(Kind kind) {
    List<String> names = all(kind, List.of(0)).stream().map(Algorithm::name).toList();
    return switch (kind) {
      case ALLREDUCE, REDUCE_SCATTER, ALLGATHER, BROADCAST, ALLTOALL ->
          Stream.concat(names.stream(), Stream.of(SHARED)).toList();
      case BARRIER -> List.of(MEETING);
    };
  }

  /// For tests and tools: which algorithm allreduce takes by itself, where no memory is shared.
  ///
  /// @param hosts host of each rank, any numbers
  public static String forAllreduce(long bytes, List<Integer> hosts) {
    return chosen(table(Optional.empty()), "allreduce", bytes, hosts, false).algorithm();
  }

  /// For tools: what a collective takes by itself for this size, and why.
  ///
  /// @param collective allreduce, reducescatter, allgather, broadcast, alltoall or barrier
  /// @param hosts host of each rank, any numbers
  /// @param sharesMemory whether the ranks may share memory
  public static Rule chosen(
      AlgorithmTable table,
      String collective,
      long bytes,
      List<Integer> hosts,
      boolean sharesMemory) {
    if (Stream.of(Kind.values()).noneMatch(kind -> kind.words().equals(collective))) {
      throw new IllegalArgumentException("no collective '" + collective + "'");
    }
    return table.ladder(collective, Layout.of(hosts, sharesMemory)).at(bytes);
  }

  /// For tools: whether ranks that share memory work on private tensors of this size too, by a
  /// stand-in, with the tuning that there is by default.
  public static boolean hasStandIn(String collective, long bytes) {
    boolean combines =
        collective.equals(Kind.ALLREDUCE.words()) || collective.equals(Kind.REDUCE_SCATTER.words());
    return combines && bytes <= Tuning.DEFAULT.windowBytes();
  }

  /// Whether the ranks may share memory.
  boolean sharesMemory() {
    return sharesMemory;
  }

  /// The plan of this rank by the named algorithm. Throws `IllegalArgumentException` naming the
  /// algorithms there are.
  Plan plan(Kind kind, String name, int root, int rank) {
    return plans.computeIfAbsent(
        new PlanKey(kind, name, root, rank),
        key ->
            Plan.of(
                root == 0 ? named(kind, name) : new Rooted(named(kind, name), root),
                rank,
                hosts.size()));
  }

  /// Whether a collective is to work on the memory of other ranks where it lies, if that can be
  /// reached, else the way of `apart`: because the table says so, or because `wanted` does. Throws
  /// `IllegalArgumentException` if it is wanted where ranks do not share memory.
  boolean isShared(Kind kind, Optional<String> wanted, long bytes) {
    if (wanted.isEmpty()) {
      return rule(together, kind, bytes).algorithm().equals(SHARED);
    }
    if (wanted.get().equals(SHARED) && !sharesMemory) {
      throw new IllegalArgumentException(
          "algorithm 'shared' needs ranks of one host over a transport that shares memory; this"
              + " communicator's do not; leave the choice to Weft, or take one of "
              + all(kind, List.of(0)).stream().map(Algorithm::name).toList());
    }
    return wanted.get().equals(SHARED);
  }

  /// The given name, checked, or what the table says. Throws `IllegalArgumentException` naming the
  /// algorithms there are.
  String choose(Kind kind, Optional<String> wanted, long bytes) {
    return wanted.isPresent()
        ? named(kind, wanted.get()).name()
        : rule(together, kind, bytes).algorithm();
  }

  /// What the table says where ranks share no memory.
  String apart(Kind kind, long bytes) {
    return rule(apart, kind, bytes).algorithm();
  }

  private static Rule rule(Map<Kind, Ladder> ladders, Kind kind, long bytes) {
    return Objects.requireNonNull(ladders.get(kind), "every kind has a ladder").at(bytes);
  }

  private Algorithm named(Kind kind, String name) {
    return all(kind, hosts).stream()
        .filter(a -> a.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no algorithm '"
                        + name
                        + "' for "
                        + kind.words()
                        + "; there are "
                        + all(kind, hosts).stream().map(Algorithm::name).toList()));
  }

  private static List<Algorithm> all(Kind kind, List<Integer> hosts) {
    return switch (kind) {
      case ALLREDUCE, BARRIER ->
          List.of(
              Ring.allreduce(),
              new RecursiveDoubling(),
              new HalvingDoubling(),
              BinomialTree.allreduce(),
              Direct.allreduce(),
              Hierarchical.ring(hosts),
              Hierarchical.halving(hosts));
      case REDUCE_SCATTER -> List.of(Ring.reduceScatter(), Direct.reduceScatter());
      case ALLGATHER -> List.of(Ring.allgather(), Direct.allgather());
      case BROADCAST -> List.of(BinomialTree.broadcast());
      case ALLTOALL -> Stream.of(Direct.alltoall()).toList();
    };
  }
}
