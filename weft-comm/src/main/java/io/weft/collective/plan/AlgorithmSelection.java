// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.plan;

import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.RankLayout;
import io.weft.collective.choice.Rule;
import io.weft.collective.choice.SizeRules;
import io.weft.collective.schedule.Algorithm;
import io.weft.collective.schedule.Rooted;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Which algorithm a communicator takes, and the plans of those it has taken. Thread-safe.
public final class AlgorithmSelection {

  private final Map<PlanKey, AlgorithmPlan> plans = new ConcurrentHashMap<>();
  private final List<Integer> hosts;
  private final boolean sharesMemory;
  private final Map<CollectiveKind, SizeRules> together = new EnumMap<>(CollectiveKind.class);
  private final Map<CollectiveKind, SizeRules> apart = new EnumMap<>(CollectiveKind.class);

  /// For ranks of which rank r lives on host `hosts.get(r)`, and which may share memory or not.
  public AlgorithmSelection(AlgorithmTable table, List<Integer> hosts, boolean sharesMemory) {
    this.hosts = List.copyOf(hosts);
    this.sharesMemory = sharesMemory;
    for (CollectiveKind kind : CollectiveKind.values()) {
      together.put(kind, table.sizeRules(kind.words(), RankLayout.of(hosts, sharesMemory)));
      apart.put(kind, table.sizeRules(kind.words(), RankLayout.of(hosts, false)));
    }
  }

  private record PlanKey(CollectiveKind kind, String name, int root, int rank) {}

  /// Whether the ranks may share memory.
  public boolean sharesMemory() {
    return sharesMemory;
  }

  /// The plan of this rank by the named algorithm. Throws `IllegalArgumentException` naming the
  /// algorithms there are.
  public AlgorithmPlan plan(CollectiveKind kind, String name, int root, int rank) {
    return plans.computeIfAbsent(
        new PlanKey(kind, name, root, rank),
        key ->
            AlgorithmPlan.of(
                root == 0 ? named(kind, name) : new Rooted(named(kind, name), root),
                rank,
                hosts.size()));
  }

  /// Whether a collective is to work on the memory of other ranks where it lies, if that can be
  /// reached, else the way of `apart`: because the table says so, or because `wanted` does. Throws
  /// `IllegalArgumentException` if it is wanted where ranks do not share memory.
  public boolean isShared(CollectiveKind kind, Optional<String> wanted, long bytes) {
    if (wanted.isEmpty()) {
      return rule(together, kind, bytes).algorithm().equals(AlgorithmRegistry.SHARED);
    }
    if (wanted.get().equals(AlgorithmRegistry.SHARED) && !sharesMemory) {
      throw new IllegalArgumentException(
          "algorithm 'shared' needs ranks of one host over a transport that shares memory; this"
              + " communicator's do not; leave the choice to Weft, or take one of "
              + AlgorithmRegistry.names(kind));
    }
    return wanted.get().equals(AlgorithmRegistry.SHARED);
  }

  /// The given name, checked, or what the table says. Throws `IllegalArgumentException` naming the
  /// algorithms there are.
  public String choose(CollectiveKind kind, Optional<String> wanted, long bytes) {
    return wanted.isPresent()
        ? named(kind, wanted.get()).name()
        : rule(together, kind, bytes).algorithm();
  }

  /// What the table says where ranks share no memory.
  public String apart(CollectiveKind kind, long bytes) {
    return rule(apart, kind, bytes).algorithm();
  }

  private static Rule rule(
      Map<CollectiveKind, SizeRules> ladders, CollectiveKind kind, long bytes) {
    return Objects.requireNonNull(ladders.get(kind), "every kind has a ladder").at(bytes);
  }

  private Algorithm named(CollectiveKind kind, String name) {
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
