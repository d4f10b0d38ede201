// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.perf.process.PerfException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// What rank 0 says of a round: `step on|off checked|wrong NANOS...`, `traffic on|off BYTES
/// COLLECTIVES` where that was counted, and `done` at the end.
///
/// @param steps of each setting of fusion, or of recording, the slowest rank's time of each, in
///   nanoseconds
/// @param traffic of a step of each setting
/// @param checked whether all averages were right
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

  /// Throws `PerfException.Failed` where the report has no end.
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
          "the ranks have ended before their report of %d lines had an end"
              .formatted(lines.size()));
    }
    return new GradientsReport(steps, traffic, right);
  }
}
