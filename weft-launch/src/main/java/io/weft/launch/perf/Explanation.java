// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import io.weft.collective.Algorithms;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.choice.Rule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// Which algorithm Weft takes for each size of a plan, and why, for people. Neighbouring sizes that
/// take the same one share a line.
///
/// @param plan what would be measured
/// @param sharesMemory whether its transport lets ranks reach each other's tensors
/// @param table that ranks choose by
record Explanation(MeasuringPlan plan, boolean sharesMemory, AlgorithmTable table) {

  /// Sizes of which one algorithm takes all.
  private record Span(long from, long to, Rule choice) {

    String line() {
      String sizes =
          from == to
              ? ByteSizes.format(from)
              : ByteSizes.format(from) + " .. " + ByteSizes.format(to);
      return "%22s  %-20s  %s".formatted(sizes, choice.algorithm(), choice.reason());
    }
  }

  /// Lines of text, the head first.
  String text() {
    List<String> lines = new ArrayList<>();
    String what = plan.benchmark().label();
    if (!plan.benchmark().isCollective()) {
      lines.add(what + " runs no collective: it is the transport's own");
    } else {
      lines.add(
          "%s, %d ranks on this host, %s%s"
              .formatted(
                  what,
                  plan.ranks(),
                  plan.transport(),
                  sharesMemory ? ", which shares memory; tensors " + plan.memory().label() : ""));
      spans().forEach(span -> lines.add(span.line()));
    }
    return String.join(System.lineSeparator(), lines) + System.lineSeparator();
  }

  private List<Span> spans() {
    List<Span> spans = new ArrayList<>();
    List<Integer> hosts = Collections.nCopies(plan.ranks(), 0);
    for (MeasuringPlan.Case one : plan.cases()) {
      // Ranks find out that private tensors cannot be reached, and go the ordinary way.
      boolean reachable =
          sharesMemory
              && (plan.memory() == TensorMemory.OWN
                  || Algorithms.hasBounceBuffer(plan.benchmark().label(), one.bytes()));
      Rule choice =
          Algorithms.chosen(table, plan.benchmark().label(), one.bytes(), hosts, reachable);
      if (!spans.isEmpty() && spans.getLast().choice().equals(choice)) {
        Span last = spans.removeLast();
        spans.add(new Span(last.from(), one.bytes(), choice));
      } else {
        spans.add(new Span(one.bytes(), one.bytes(), choice));
      }
    }
    return spans;
  }
}
