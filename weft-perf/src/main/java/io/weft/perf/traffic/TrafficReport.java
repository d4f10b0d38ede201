// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.perf.process.PerfException;
import java.util.ArrayList;
import java.util.List;

/// The output of a contestant's client in one round.
///
/// @param peer "weft", or the peer's name and version
/// @param cases the cases in the plan's order
record TrafficReport(String peer, List<TrafficCase> cases) {

  private static final int WORDS = 8;

  TrafficReport {
    cases = List.copyOf(cases);
  }

  /// The figures of one number of workers.
  ///
  /// @param workers number of workers
  /// @param checked true if the contents of all tensors were right
  /// @param stepsPerSecond step rate of all workers together
  /// @param p50Millis median time of a step, including the computation
  /// @param p99Millis time of a step that 99 of 100 steps do not exceed
  /// @param requestsPerStep number of the client's requests for the tensors of a step
  record TrafficCase(
      int workers,
      boolean checked,
      double stepsPerSecond,
      double p50Millis,
      double p99Millis,
      double requestsPerStep) {}

  /// Reads the lines `peer NAME VERSION`, `case WORKERS checked STEPS WINDOW_NANOS P50_NANOS
  /// P99_NANOS REQUESTS_PER_STEP` and `done`, and skips others. Throws `PerfException.Failed` if
  /// the cases differ from the plan's.
  static TrafficReport parse(List<String> lines, TrafficPlan plan) {
    String peer = "";
    boolean done = false;
    List<TrafficCase> cases = new ArrayList<>();
    for (String line : lines) {
      List<String> words = List.of(line.strip().split(" +", -1));
      switch (words.getFirst()) {
        case "peer" -> peer = String.join(" ", words.subList(1, words.size()));
        case "case" -> cases.add(read(words));
        case "done" -> done = true;
        default -> {}
      }
    }
    if (peer.isEmpty()
        || !done
        || !cases.stream().map(TrafficCase::workers).toList().equals(plan.workers())) {
      throw new PerfException.Failed(
          "a client printed %d of %d measurements and %s"
              .formatted(cases.size(), plan.workers().size(), done ? "ended" : "did not end"));
    }
    return new TrafficReport(peer, cases);
  }

  private static TrafficCase read(List<String> words) {
    try {
      if (words.size() == WORDS) {
        double steps = Double.parseDouble(words.get(3));
        return new TrafficCase(
            Integer.parseInt(words.get(1)),
            words.get(2).equals("checked"),
            steps * 1e9 / Double.parseDouble(words.get(4)),
            Double.parseDouble(words.get(5)) / 1e6,
            Double.parseDouble(words.get(6)) / 1e6,
            Double.parseDouble(words.get(7)));
      }
    } catch (NumberFormatException e) {
      throw new PerfException.Failed("a client printed a line that is not a measurement", e);
    }
    throw new PerfException.Failed(
        "a client printed a line that is not a measurement: " + String.join(" ", words));
  }
}
