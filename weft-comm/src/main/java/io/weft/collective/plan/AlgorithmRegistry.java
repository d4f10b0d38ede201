// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.plan;

import io.weft.collective.schedule.Algorithm;
import io.weft.collective.schedule.BinomialTree;
import io.weft.collective.schedule.Direct;
import io.weft.collective.schedule.Hierarchical;
import io.weft.collective.schedule.NestedExchanges;
import io.weft.collective.schedule.RecursiveDoubling;
import io.weft.collective.schedule.Ring;
import java.util.List;
import java.util.stream.Stream;

/// The algorithms that there are for each collective.
public final class AlgorithmRegistry {

  /// By which users ask for the way of the same name; it has no schedule.
  public static final String MAPPED = "mapped";

  /// By which users ask for a sum in one order, of ranks within hosts, of hosts above them.
  static final String FIXED_ORDER = "fixed-order";

  /// By which they ask for one in the order of ranks, whatever their hosts.
  static final String RANK_ORDER = "rank-order";

  static final String RING = "ring";

  static final String NESTED_DIRECT = "nested-direct";

  static final String NESTED_HALVING = "nested-halving";

  /// Of slices that shared memory has left undone; not for the rule table.
  static final String SLICED_DOUBLING = "sliced-doubling";

  /// Each rank works on its part of all tensors.
  public static final String DIRECT = "direct";

  public static final String RECURSIVE_DOUBLING = "recursive-doubling";

  /// That of every barrier.
  public static final String MEETING = RECURSIVE_DOUBLING;

  private AlgorithmRegistry() {}

  /// Names of those that every transport has.
  public static List<String> names(CollectiveKind kind) {
    return of(kind, List.of(0)).stream().map(Algorithm::name).toList();
  }

  /// Those that have a schedule, for ranks of which rank r lives on host `hosts.get(r)`.
  static List<Algorithm> of(CollectiveKind kind, List<Integer> hosts) {
    return switch (kind) {
      case ALLREDUCE, BARRIER ->
          List.of(
              Ring.allreduce(),
              RecursiveDoubling.over(hosts),
              NestedExchanges.direct(hosts),
              NestedExchanges.halving(hosts),
              BinomialTree.allreduce(),
              Hierarchical.ring(hosts));
      case REDUCE_SCATTER -> List.of(Ring.reduceScatter(), Direct.reduceScatter());
      case ALLGATHER -> List.of(Ring.allgather(), Direct.allgather());
      case BROADCAST -> List.of(BinomialTree.broadcast());
      case ALLTOALL -> Stream.of(Direct.alltoall()).toList();
    };
  }
}
