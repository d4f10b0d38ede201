// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.plan;

import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.RankLayout;
import io.weft.collective.choice.Segments;
import io.weft.collective.choice.SizeRules;
import io.weft.collective.choice.Way;
import io.weft.collective.schedule.Algorithm;
import io.weft.collective.schedule.Rooted;
import io.weft.collective.schedule.SlicedDoubling;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Which way and algorithm a communicator takes, and the schedules of those it has taken.
/// Thread-safe.
public final class AlgorithmSelection {

  private final Map<ScheduleKey, RankSchedule> schedules = new ConcurrentHashMap<>();
  private final List<Integer> hosts;
  private final RankLayout layout;
  private final Map<CollectiveKind, SizeRules> rules = new EnumMap<>(CollectiveKind.class);
  private final Map<CollectiveKind, SizeRules> onWire = new EnumMap<>(CollectiveKind.class);
  private final Map<CollectiveKind, SizeRules> bounced = new EnumMap<>(CollectiveKind.class);

  /// For ranks of which rank r lives on host `hosts.get(r)`, and which may share memory or not.
  ///
  /// @param oneSided whether the transport reads and writes peers' memory without their processors
  public AlgorithmSelection(
      AlgorithmTable table, List<Integer> hosts, boolean sharesMemory, boolean oneSided) {
    this.hosts = List.copyOf(hosts);
    this.layout = RankLayout.of(hosts, sharesMemory, oneSided);
    for (CollectiveKind kind : CollectiveKind.values()) {
      rules.put(kind, table.sizeRules(kind.words(), layout, kind.sameBytes()));
      onWire.put(
          kind, table.sizeRules(kind.words(), layout.withoutSharedMemory(), kind.sameBytes()));
      bounced.put(kind, table.sizeRules(kind.words(), layout.bounced(), kind.sameBytes()));
    }
  }

  /// Whether all ranks reach each other's memory.
  public boolean sharesMemory() {
    return layout.sharesMemory();
  }

  private record ScheduleKey(CollectiveKind kind, String name, int root, int rank) {}

  /// The schedule of this rank by the named algorithm. Throws `IllegalArgumentException` naming the
  /// algorithms there are.
  public RankSchedule schedule(CollectiveKind kind, String name, int root, int rank) {
    return schedules.computeIfAbsent(
        new ScheduleKey(kind, name, root, rank),
        key ->
            RankSchedule.of(
                root == 0 ? named(kind, name) : new Rooted(named(kind, name), root),
                rank,
                hosts.size()));
  }

  /// Name of the algorithm that combines tensors which could not be combined in shared memory; of
  /// an allreduce, in the same order.
  public String afterMapped(CollectiveKind kind, Choice onWire) {
    return kind == CollectiveKind.ALLREDUCE
        ? AlgorithmRegistry.HALVING_DOUBLING
        : onWire.algorithm();
  }

  /// The same of single ranks' slices: one chunk for each rank.
  public String afterMappedSlices(CollectiveKind kind) {
    return kind == CollectiveKind.ALLREDUCE
        ? AlgorithmRegistry.SLICED_DOUBLING
        : AlgorithmRegistry.RING;
  }

  /// What the table says or, where something is wanted, that: an algorithm on the wire, or the
  /// memory of other ranks. Throws `IllegalArgumentException` naming the algorithms there are, or
  /// if memory is wanted where ranks do not share it.
  ///
  /// Hot path where nothing is wanted.
  public Choice choose(CollectiveKind kind, Optional<String> wanted, long bytes) {
    return wanted.isEmpty() ? rules(rules, kind).at(bytes) : wanted(kind, wanted.get(), bytes);
  }

  /// What the table says where ranks share no memory: a schedule on the wire.
  public Choice onWire(CollectiveKind kind, long bytes) {
    return rules(onWire, kind).at(bytes);
  }

  /// The segments in which tensors pass through bounce buffers.
  public Segments bounced(CollectiveKind kind, long bytes) {
    return rules(bounced, kind).segments(Way.MAPPED, bytes);
  }

  private Choice wanted(CollectiveKind kind, String wanted, long bytes) {
    if (wanted.equals(AlgorithmRegistry.FIXED_ORDER)) {
      return inFixedOrder(kind, bytes);
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
        : asked(kind, Way.WIRE, named(kind, wanted).name(), bytes);
  }

  /// What the table says where that combines the ranks of each element in the order of halving: in
  /// shared memory, by doubling, or two of them in any way; else halving itself.
  ///
  /// Hot path.
  private Choice inFixedOrder(CollectiveKind kind, long bytes) {
    Choice choice = rules(rules, kind).at(bytes);
    boolean fixed =
        layout.ranks() <= 2
            || choice.way() != Way.WIRE
            || choice.algorithm().equals(AlgorithmRegistry.RECURSIVE_DOUBLING)
            || choice.algorithm().equals(AlgorithmRegistry.HALVING_DOUBLING);
    return fixed ? choice : asked(kind, Way.WIRE, AlgorithmRegistry.HALVING_DOUBLING, bytes);
  }

  private Choice asked(CollectiveKind kind, Way way, String algorithm, long bytes) {
    Segments segments = rules(rules, kind).segments(way, bytes);
    return new Choice(way, algorithm, segments, "by the caller", "it was asked for");
  }

  private static SizeRules rules(Map<CollectiveKind, SizeRules> rules, CollectiveKind kind) {
    return Objects.requireNonNull(rules.get(kind), "every kind has rules");
  }

  private Algorithm named(CollectiveKind kind, String name) {
    if (name.equals(AlgorithmRegistry.SLICED_DOUBLING)) {
      return new SlicedDoubling();
    }
    return AlgorithmRegistry.of(kind, hosts).stream()
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
                        + AlgorithmRegistry.of(kind, hosts).stream()
                            .map(Algorithm::name)
                            .toList()));
  }
}
