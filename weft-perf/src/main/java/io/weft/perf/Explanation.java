// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.collective.Algorithms;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.RankLayout;
import io.weft.collective.choice.Way;
import io.weft.perf.report.Figure;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Weft's decision for each size of a plan: way, algorithm, segments, and the rule that led to it.
///
/// @param plan the plan
/// @param sharesMemory true if ranks can access each other's tensors over the transport
/// @param oneSided true if the transport reads and writes without the peer's processor
/// @param eagerBytes largest payload that travels inside a message instead of a granted write
/// @param table the rule table of the ranks
record Explanation(
    MeasuringPlan plan,
    boolean sharesMemory,
    boolean oneSided,
    int eagerBytes,
    AlgorithmTable table) {

  /// The benchmarks whose private tensors are accessible over a bounce buffer or a slot.
  private static final Set<Benchmark> NEED_NO_SHARED_TENSORS =
      Set.of(Benchmark.ALLREDUCE, Benchmark.REDUCESCATTER, Benchmark.BARRIER);

  private static String row(Figure line) {
    long eager = (long) line.number("eagerBytes");
    return "%10s  %-7s  %-20s  %8s x %-3d  %-15s  %s: %s"
        .formatted(
            ByteSizes.format((long) line.number("bytes")),
            line.text("way"),
            line.text("algorithm"),
            ByteSizes.format((long) line.number("segmentBytes")),
            line.integer("inFlight"),
            eager == 0 ? "" : "eager " + ByteSizes.format(eager),
            line.text("rule"),
            line.text("reason"));
  }

  /// Returns the lines of the explanation after a header.
  String text() {
    List<String> text = new ArrayList<>();
    String what = plan.benchmark().label();
    if (!plan.benchmark().isCollective()) {
      text.add(what + " runs no collective, so no rule applies");
    } else {
      text.add(
          "%s, %d ranks on this host, %s%s"
              .formatted(
                  what,
                  plan.ranks(),
                  plan.transport(),
                  sharesMemory ? ", which shares memory; tensors " + plan.memory().label() : ""));
      lines().forEach(line -> text.add(row(line)));
    }
    return String.join(System.lineSeparator(), text) + System.lineSeparator();
  }

  /// Returns the decision for each size: way, algorithm, the maximum number of segments in flight
  /// to a peer, the largest chunk that travels inside messages on the wire (0 on other ways), place
  /// and text of the rule, and the reason. Returns nothing for a benchmark without a collective.
  List<Figure> lines() {
    return plan.benchmark().isCollective()
        ? plan.cases().stream().map(one -> line(one.bytes())).toList()
        : List.of();
  }

  private Figure line(long bytes) {
    // Ranks detect that private tensors are not accessible, and use the wire.
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
    return new Figure(Map.of("bytes", bytes))
        .with("way", choice.way().words())
        .with("algorithm", choice.algorithm())
        .with("segmentBytes", choice.segments().bytes())
        .with("inFlight", choice.segments().inFlight())
        .with("eagerBytes", choice.way() == Way.WIRE ? eagerBytes : 0)
        .with("rule", choice.rule())
        .with("reason", choice.reason());
  }
}
