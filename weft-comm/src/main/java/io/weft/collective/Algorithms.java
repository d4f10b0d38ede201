// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.RankLayout;
import io.weft.collective.choice.Way;
import io.weft.collective.plan.AlgorithmRegistry;
import io.weft.collective.plan.AlgorithmSelection;
import io.weft.collective.plan.CollectiveKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// For tests and tools: which algorithms there are for each collective, and which is taken for a
/// size and a number of ranks. Any thread.
public final class Algorithms {

  private Algorithms() {}

  /// The names that `CollectiveOptions.by` takes for allreduce on every transport. (`mapped` is one
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
    String mailbox = Way.MAILBOX.words() + " " + AlgorithmRegistry.MEETING;
    String wire = Way.WIRE.words() + " ";
    if (kind == CollectiveKind.BARRIER) {
      return List.of(wire + AlgorithmRegistry.MEETING, mailbox);
    }
    List<String> known = new ArrayList<>();
    AlgorithmRegistry.names(kind).forEach(name -> known.add(wire + name));
    known.add(Way.MAPPED.words() + " " + AlgorithmRegistry.DIRECT);
    if (kind == CollectiveKind.ALLREDUCE) {
      known.add(mailbox);
    }
    return known;
  }

  /// Which algorithm allreduce takes by itself, where no memory is shared.
  ///
  /// @param hosts host of each rank, any numbers
  public static String forAllreduce(long bytes, List<Integer> hosts) {
    RankLayout layout = RankLayout.of(hosts, false, false);
    return chosen(table(Optional.empty()), "allreduce", bytes, layout).algorithm();
  }

  /// Returns what an allreduce takes with these options, by the selection of every communicator,
  /// where no memory is shared.
  ///
  /// @param hosts host of each rank, any numbers
  /// @param oneSided whether the transport reads and writes peers' memory without their processors
  public static Choice forAllreduce(
      AlgorithmTable table,
      long bytes,
      List<Integer> hosts,
      boolean oneSided,
      CollectiveOptions options) {
    return new AlgorithmSelection(table, hosts, false, oneSided)
        .choose(CollectiveKind.ALLREDUCE, options.algorithm(), bytes);
  }

  /// What a collective takes by itself for this size, and why.
  ///
  /// @param collective allreduce, reducescatter, allgather, broadcast, alltoall or barrier
  public static Choice chosen(
      AlgorithmTable table, String collective, long bytes, RankLayout layout) {
    CollectiveKind kind =
        Stream.of(CollectiveKind.values())
            .filter(each -> each.words().equals(collective))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no collective '" + collective + "'"));
    return table.sizeRules(collective, layout, kind.sameBytes()).at(bytes);
  }
}
