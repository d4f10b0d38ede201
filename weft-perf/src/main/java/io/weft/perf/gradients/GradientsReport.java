// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.perf.process.PerfException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The report of rank 0 on a round: `step on|off checked|wrong NANOS...`, `traffic on|off BYTES
/// COLLECTIVES` if traffic was counted, and finally `done`.
///
/// @param steps for each setting of fusion or recording, the steps' times on the slowest rank in
///   nanoseconds
/// @param traffic traffic of a step of each setting
/// @param checked true if all averages were right
record GradientsReport(
    Map<Boolean, List<Long>> steps, Map<Boolean, StepTraffic> traffic, boolean checked) {

  GradientsReport {
    steps = Map.copyOf(steps);
    traffic = Map.copyOf(traffic);
  }

  static String line(boolean on, StepTraffic traffic) {
    return "traffic " + (on ? "on " : "off ") + traffic.bytes() + " " + traffic.collectives();
  }

  static String line(boolean on, boolean right, long[] nanos) {
    StringBuilder line =
        new StringBuilder("step " + (on ? "on" : "off") + (right ? " checked" : " wrong"));
    for (long each : nanos) {
      line.append(' ').append(each);
    }
    return line.toString();
  }

  /// Parses the report. Throws `PerfException.Failed` if its end is missing.
  static GradientsReport parse(List<String> lines) {
    Map<Boolean, List<Long>> steps = new HashMap<>();
    Map<Boolean, StepTraffic> traffic = new HashMap<>();
    boolean right = true;
    boolean ended = false;
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      if (words[0].equals("step")) {
        right &= words[2].equals("checked");
        List<Long> own = steps.computeIfAbsent(words[1].equals("on"), _ -> new ArrayList<>());
        for (int w = 3; w < words.length; w++) {
          own.add(Long.parseLong(words[w]));
        }
      }
      if (words[0].equals("traffic")) {
        traffic.put(
            words[1].equals("on"),
            new StepTraffic(Double.parseDouble(words[2]), Double.parseDouble(words[3])));
      }
      ended |= line.equals("done");
    }
    if (!ended) {
      throw new PerfException.Failed(
          "the ranks have ended before their report of %d lines was complete"
              .formatted(lines.size()));
    }
    return new GradientsReport(steps, traffic, right);
  }
}
