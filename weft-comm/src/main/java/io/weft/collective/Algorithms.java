// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.RankLayout;
import io.weft.collective.choice.Rule;
import io.weft.collective.plan.AlgorithmRegistry;
import io.weft.collective.plan.CollectiveKind;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// For tests and tools: which algorithms there are for each collective, and which is taken for a
/// size and a number of ranks. Any thread.
public final class Algorithms {

  private Algorithms() {}

  /// The names that `CollectiveOptions.by` takes for allreduce on every transport. (`shared` is one
  /// more, for ranks that share memory.)
  public static List<String> allreduceNames() {
    return AlgorithmRegistry.names(CollectiveKind.ALLREDUCE);
  }

  /// The table by which algorithms are chosen: the shipped one, behind the lines of `own` if there
  /// is such a file. Throws `IllegalArgumentException` that names file, line and what is allowed.
  public static AlgorithmTable table(Optional<Path> own) {
    return AlgorithmTable.load(
        own,
        Stream.of(CollectiveKind.values())
            .collect(Collectors.toMap(CollectiveKind::words, Algorithms::selectable)));
  }

  /// What a table may name.
  private static List<String> selectable(CollectiveKind kind) {
    List<String> names = AlgorithmRegistry.names(kind);
    return switch (kind) {
      case ALLREDUCE, REDUCE_SCATTER, ALLGATHER, BROADCAST, ALLTOALL ->
          Stream.concat(names.stream(), Stream.of(AlgorithmRegistry.SHARED)).toList();
      case BARRIER -> List.of(AlgorithmRegistry.MEETING);
    };
  }

  /// Which algorithm allreduce takes by itself, where no memory is shared.
  ///
  /// @param hosts host of each rank, any numbers
  public static String forAllreduce(long bytes, List<Integer> hosts) {
    return chosen(table(Optional.empty()), "allreduce", bytes, hosts, false).algorithm();
  }

  /// What a collective takes by itself for this size, and why.
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
    if (Stream.of(CollectiveKind.values()).noneMatch(kind -> kind.words().equals(collective))) {
      throw new IllegalArgumentException("no collective '" + collective + "'");
    }
    return table.sizeRules(collective, RankLayout.of(hosts, sharesMemory)).at(bytes);
  }

  /// Whether ranks that share memory work on private tensors of this size too, by a bounce buffer,
  /// as long as there is room for one in the pool.
  public static boolean hasBounceBuffer(String collective, long bytes) {
    boolean combines =
        collective.equals(CollectiveKind.ALLREDUCE.words())
            || collective.equals(CollectiveKind.REDUCE_SCATTER.words());
    return combines && bytes <= Tuning.LONGEST_STAND_IN_BYTES;
  }
}
