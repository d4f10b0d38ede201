// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.collective.Algorithms;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.RankLayout;
import io.weft.collective.choice.Way;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/// Which way and algorithm Weft takes for each size of a plan, in which segments, and which line of
/// the table decided.
///
/// @param plan what would be measured
/// @param sharesMemory whether its transport lets ranks reach each other's tensors
/// @param oneSided whether its transport reads and writes without the peer's processor
/// @param eagerBytes payload up to which its messages carry tensors, instead of writes that a peer
///   grants
/// @param table that ranks choose by
record Explanation(
    MeasuringPlan plan,
    boolean sharesMemory,
    boolean oneSided,
    int eagerBytes,
    AlgorithmTable table) {

  /// What is combined is reached by a bounce buffer where it is private, or fits a slot.
  private static final Set<Benchmark> NEED_NO_SHARED_TENSORS =
      Set.of(Benchmark.ALLREDUCE, Benchmark.REDUCESCATTER, Benchmark.BARRIER);

  /// One size, as a program reads it.
  ///
  /// @param way mailbox, mapped or wire
  /// @param inFlight segments that may be on their way to a peer
  /// @param eagerBytes what goes by wire in chunks up to this length travels inside messages; 0 on
  ///   other ways
  /// @param rule where the line stands that decided, and what it says
  /// @param reason why
  record ExplainedSize(
      long bytes,
      String way,
      String algorithm,
      long segmentBytes,
      int inFlight,
      int eagerBytes,
      String rule,
      String reason) {

    String text() {
      return "%10s  %-7s  %-20s  %8s x %-3d  %-15s  %s: %s"
          .formatted(
              ByteSizes.format(bytes),
              way,
              algorithm,
              ByteSizes.format(segmentBytes),
              inFlight,
              eagerBytes == 0 ? "" : "eager " + ByteSizes.format(eagerBytes),
              rule,
              reason);
    }
  }

  /// Lines of text, the head first.
  String text() {
    List<String> text = new ArrayList<>();
    String what = plan.benchmark().label();
    if (!plan.benchmark().isCollective()) {
      text.add(what + " runs no collective: it is the transport's own");
    } else {
      text.add(
          "%s, %d ranks on this host, %s%s"
              .formatted(
                  what,
                  plan.ranks(),
                  plan.transport(),
                  sharesMemory ? ", which shares memory; tensors " + plan.memory().label() : ""));
      lines().forEach(line -> text.add(line.text()));
    }
    return String.join(System.lineSeparator(), text) + System.lineSeparator();
  }

  /// Each size; none where no collective runs.
  List<ExplainedSize> lines() {
    return plan.benchmark().isCollective()
        ? plan.cases().stream().map(one -> line(one.bytes())).toList()
        : List.of();
  }

  private ExplainedSize line(long bytes) {
    // Ranks find out that private tensors cannot be reached, and take the wire.
    boolean reachable =
        sharesMemory
            && (plan.memory() == TensorMemory.OWN
                || NEED_NO_SHARED_TENSORS.contains(plan.benchmark()));
    List<Integer> hosts = Collections.nCopies(plan.ranks(), 0);
    RankLayout layout = RankLayout.of(hosts, reachable && plan.ranks() > 1, oneSided);
    boolean bounces = layout.sharesMemory() && plan.memory() == TensorMemory.PRIVATE;
    Choice choice =
        Algorithms.chosen(
            table, plan.benchmark().label(), bytes, bounces ? layout.bounced() : layout);
    return new ExplainedSize(
        bytes,
        choice.way().words(),
        choice.algorithm(),
        choice.segments().bytes(),
        choice.segments().inFlight(),
        choice.way() == Way.WIRE ? eagerBytes : 0,
        choice.rule(),
        choice.reason());
  }
}
