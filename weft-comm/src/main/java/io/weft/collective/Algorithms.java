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

/// The algorithms of each collective, and the selection of one by tensor size and ranks. For tests
/// and tools. Any thread.
public final class Algorithms {

  private Algorithms() {}

  /// Returns the algorithm names that `CollectiveOptions.by` accepts for allreduce on every
  /// transport. (Ranks that share memory may also name `mapped`.)
  public static List<String> allreduceNames() {
    return AlgorithmRegistry.names(CollectiveKind.ALLREDUCE);
  }

  /// Returns the shipped rule table, preceded by the rules of the file `own` if one is given.
  /// Throws `IllegalArgumentException` naming the file, the line and the allowed values.
  public static AlgorithmTable table(Optional<Path> own) {
    return AlgorithmTable.load(
        own,
        Stream.of(CollectiveKind.values())
            .collect(Collectors.toMap(CollectiveKind::words, Algorithms::selectable)));
  }

  /// Returns the ways and algorithms that a rule may name for this collective.
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

  /// Returns the algorithm that the shipped table selects for an allreduce without shared memory.
  ///
  /// @param hosts host of each rank, any numbers
  public static String forAllreduce(long bytes, List<Integer> hosts) {
    RankLayout layout = RankLayout.of(hosts, false, false);
    return chosen(table(Optional.empty()), "allreduce", bytes, layout).algorithm();
  }

  /// Returns the choice that every communicator makes for an allreduce with these options without
  /// shared memory.
  ///
  /// @param hosts host of each rank, any numbers
  /// @param oneSided true if the transport accesses peers' memory without using their processors
  public static Choice forAllreduce(
      AlgorithmTable table,
      long bytes,
      List<Integer> hosts,
      boolean oneSided,
      CollectiveOptions options) {
    return new AlgorithmSelection(table, hosts, false, oneSided)
        .choose(CollectiveKind.ALLREDUCE, options.algorithm(), bytes);
  }

  /// Returns the table's choice for a collective of this size, with the reason. Throws
  /// `IllegalArgumentException` for an unknown collective.
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
