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

/// The algorithms of each collective.
public final class AlgorithmRegistry {

  /// The name by which users select the way of the same name; it has no schedule.
  public static final String MAPPED = "mapped";

  /// The name by which users select one order of additions: of ranks within hosts, of hosts above
  /// them.
  static final String FIXED_ORDER = "fixed-order";

  /// The name by which users select additions in the order of ranks, independent of their hosts.
  static final String RANK_ORDER = "rank-order";

  static final String RING = "ring";

  static final String NESTED_DIRECT = "nested-direct";

  static final String NESTED_HALVING = "nested-halving";

  /// The algorithm for slices that shared memory has not combined; not available to the rule table.
  static final String SLICED_DOUBLING = "sliced-doubling";

  /// The algorithm by which each rank processes its part of all tensors.
  public static final String DIRECT = "direct";

  public static final String RECURSIVE_DOUBLING = "recursive-doubling";

  /// The algorithm of every barrier.
  public static final String MEETING = RECURSIVE_DOUBLING;

  private AlgorithmRegistry() {}

  /// Returns the names of the algorithms that every transport supports.
  public static List<String> names(CollectiveKind kind) {
    return of(kind, List.of(0)).stream().map(Algorithm::name).toList();
  }

  /// Returns the algorithms that have a schedule, where rank r runs on host `hosts.get(r)`.
  static List<Algorithm> of(CollectiveKind kind, List<Integer> hosts) {
    return switch (kind) {
      case ALLREDUCE, BARRIER ->
          List.of(
              Ring.allreduce(),
              RecursiveDoubling.onHosts(hosts),
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
