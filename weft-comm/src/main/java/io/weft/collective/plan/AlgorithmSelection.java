// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.plan;

import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.FusionRules;
import io.weft.collective.choice.RankLayout;
import io.weft.collective.choice.Segments;
import io.weft.collective.choice.SizeRules;
import io.weft.collective.choice.Way;
import io.weft.collective.schedule.Algorithm;
import io.weft.collective.schedule.Rooted;
import io.weft.collective.schedule.SlicedDoubling;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/// Selects a communicator's way and algorithm, and caches the schedules it has used. Thread-safe.
public final class AlgorithmSelection {

  /// The prefix of an algorithm's name that lets the algorithm treat all ranks as ranks of one
  /// host.
  private static final String IN_RANK_ORDER = AlgorithmRegistry.RANK_ORDER + " ";

  private final Map<ScheduleKey, RankSchedule> schedules = new ConcurrentHashMap<>();
  private final List<Integer> hosts;
  private final RankLayout layout;
  private final boolean isRankOrder;
  private final FusionRules fusion;
  private final FusionRules mixing;
  private final Map<CollectiveKind, SizeRules> rules = new EnumMap<>(CollectiveKind.class);
  private final Map<CollectiveKind, SizeRules> onWire = new EnumMap<>(CollectiveKind.class);
  private final Map<CollectiveKind, SizeRules> bounced = new EnumMap<>(CollectiveKind.class);

  /// Creates the selection, where rank r runs on host `hosts.get(r)`.
  ///
  /// @param oneSided true if the transport reads and writes peers' memory without their processors
  public AlgorithmSelection(
      AlgorithmTable table, List<Integer> hosts, boolean sharesMemory, boolean oneSided) {
    this.hosts = List.copyOf(hosts);
    this.layout = RankLayout.of(hosts, sharesMemory, oneSided);
    this.isRankOrder = isRankOrder(this.hosts);
    this.fusion = table.fusionRules(FusionRules.Subject.FUSION, layout);
    this.mixing = table.fusionRules(FusionRules.Subject.MIXING, layout);
    for (CollectiveKind kind : CollectiveKind.values()) {
      rules.put(kind, table.sizeRules(kind.words(), layout, kind.sameBytes()));
      onWire.put(
          kind, table.sizeRules(kind.words(), layout.withoutSharedMemory(), kind.sameBytes()));
      bounced.put(kind, table.sizeRules(kind.words(), layout.bounced(), kind.sameBytes()));
    }
  }

  /// Returns whether, by the table, a tensor of this length shares a buffer with others.
  public boolean fuses(long bytes) {
    return fusion.shares(bytes);
  }

  /// Returns whether, by the table, a buffer of this length may have tensors of different
  /// priorities.
  public boolean mixes(long bytes) {
    return mixing.shares(bytes);
  }

  public boolean sharesMemory() {
    return layout.sharesMemory();
  }

  private record ScheduleKey(CollectiveKind kind, String name, int root, int rank) {}

  /// Returns this rank's schedule of the named algorithm. Throws `IllegalArgumentException` that
  /// lists the known algorithms.
  public RankSchedule schedule(CollectiveKind kind, String name, int root, int rank) {
    return schedules.computeIfAbsent(
        new ScheduleKey(kind, name, root, rank),
        key ->
            RankSchedule.of(
                root == 0 ? named(kind, name) : new Rooted(named(kind, name), root),
                rank,
                hosts.size()));
  }

  /// Returns the name of the algorithm for tensors that could not be combined in shared memory. For
  /// an allreduce it has the same order of additions.
  public String afterMapped(CollectiveKind kind, Choice onWire) {
    return kind == CollectiveKind.ALLREDUCE ? AlgorithmRegistry.NESTED_DIRECT : onWire.algorithm();
  }

  /// Returns the name of the algorithm for the remaining slices of single ranks, one chunk per
  /// rank.
  public String afterMappedSlices(CollectiveKind kind) {
    return kind == CollectiveKind.ALLREDUCE
        ? AlgorithmRegistry.SLICED_DOUBLING
        : AlgorithmRegistry.RING;
  }

  /// Returns the wanted choice (an algorithm on the wire, or the memory of other ranks), or the
  /// table's choice if `wanted` is empty. Throws `IllegalArgumentException` that lists the known
  /// algorithms, also if `mapped` is wanted where ranks do not share memory.
  ///
  /// Hot path where nothing is wanted.
  public Choice choose(CollectiveKind kind, Optional<String> wanted, long bytes) {
    return wanted.isEmpty() ? rules(rules, kind).at(bytes) : wanted(kind, wanted.get(), bytes);
  }

  /// Returns the table's choice for ranks without shared memory: a schedule on the wire.
  public Choice onWire(CollectiveKind kind, long bytes) {
    return rules(onWire, kind).at(bytes);
  }

  /// Returns the segments in which tensors pass through bounce buffers.
  public Segments bounced(CollectiveKind kind, long bytes) {
    return rules(bounced, kind).segments(Way.MAPPED, bytes);
  }

  private Choice wanted(CollectiveKind kind, String wanted, long bytes) {
    if (wanted.equals(AlgorithmRegistry.FIXED_ORDER)) {
      return inFixedOrder(kind, bytes);
    }
    if (wanted.equals(AlgorithmRegistry.RANK_ORDER)) {
      return inRankOrder(kind, bytes);
    }
    boolean mapped = wanted.equals(AlgorithmRegistry.MAPPED);
    if (mapped && !layout.sharesMemory()) {
      throw new IllegalArgumentException(
          "algorithm 'mapped' needs ranks of one host over a transport that shares memory; this"
              + " communicator's do not; leave the choice to Weft, or take one of "
              + AlgorithmRegistry.names(kind));
    }
    return mapped
        ? asked(kind, Way.MAPPED, AlgorithmRegistry.DIRECT, bytes)
        : asked(kind, Way.WIRE, known(kind, wanted), bytes);
  }

  /// Returns the table's choice if it adds each element in the order of ranks within hosts, and of
  /// hosts above them: in shared memory, by the algorithms below, or in any way between two ranks.
  /// Otherwise returns nested exchanges.
  ///
  /// Hot path.
  private Choice inFixedOrder(CollectiveKind kind, long bytes) {
    Choice choice = rules(rules, kind).at(bytes);
    boolean fixed =
        layout.ranks() <= 2
            || choice.way() != Way.WIRE
            || choice.algorithm().equals(AlgorithmRegistry.RECURSIVE_DOUBLING)
            || choice.algorithm().equals(AlgorithmRegistry.NESTED_HALVING)
            || choice.algorithm().equals(AlgorithmRegistry.NESTED_DIRECT);
    return fixed ? choice : asked(kind, Way.WIRE, treeOf(kind), bytes);
  }

  private static String treeOf(CollectiveKind kind) {
    return kind == CollectiveKind.REDUCE_SCATTER
        ? AlgorithmRegistry.DIRECT
        : AlgorithmRegistry.NESTED_DIRECT;
  }

  /// Returns the choice of `inFixedOrder` if it has the order of ranks, else the same algorithm as
  /// if all ranks were on one host.
  private Choice inRankOrder(CollectiveKind kind, long bytes) {
    Choice choice = inFixedOrder(kind, bytes);
    return isRankOrder || choice.way() != Way.WIRE
        ? choice
        : asked(kind, Way.WIRE, IN_RANK_ORDER + choice.algorithm(), bytes);
  }

  /// Returns whether the tree of hosts above the trees of their ranks equals the tree of all ranks:
  /// every host has the same number of consecutive ranks, a power of two, or there are at most two
  /// ranks.
  private static boolean isRankOrder(List<Integer> hosts) {
    int size = hosts.size();
    int each = size / Math.max(1, (int) hosts.stream().distinct().count());
    boolean even =
        IntStream.range(1, size)
            .allMatch(r -> hosts.get(r) - hosts.get(r - 1) > 0 == (r % each == 0));
    boolean ascending = IntStream.range(1, size).allMatch(r -> hosts.get(r) >= hosts.get(r - 1));
    return size <= 2 || each == size || (Integer.bitCount(each) == 1 && even && ascending);
  }

  private Choice asked(CollectiveKind kind, Way way, String algorithm, long bytes) {
    Segments segments = rules(rules, kind).segments(way, bytes);
    return new Choice(way, algorithm, segments, "by the caller", "the caller requested it");
  }

  private static SizeRules rules(Map<CollectiveKind, SizeRules> rules, CollectiveKind kind) {
    return Objects.requireNonNull(rules.get(kind), "every kind has rules");
  }

  private Algorithm named(CollectiveKind kind, String name) {
    if (name.equals(AlgorithmRegistry.SLICED_DOUBLING)) {
      return new SlicedDoubling();
    }
    if (name.startsWith(IN_RANK_ORDER)) {
      List<Integer> oneHost = Collections.nCopies(hosts.size(), 0);
      return AlgorithmRegistry.of(kind, oneHost).stream()
          .filter(a -> name.equals(IN_RANK_ORDER + a.name()))
          .findFirst()
          .orElseThrow();
    }
    return AlgorithmRegistry.of(kind, hosts).stream()
        .filter(a -> a.name().equals(name))
        .findFirst()
        .orElseThrow(() -> unknown(kind, name));
  }

  private static String known(CollectiveKind kind, String name) {
    if (!AlgorithmRegistry.names(kind).contains(name)) {
      throw unknown(kind, name);
    }
    return name;
  }

  private static IllegalArgumentException unknown(CollectiveKind kind, String name) {
    return new IllegalArgumentException(
        "no algorithm '%s' for %s; there are %s"
            .formatted(name, kind.words(), AlgorithmRegistry.names(kind)));
  }
}
