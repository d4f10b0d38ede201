// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.perf.process.PerfException;
import java.util.Arrays;
import java.util.List;

/// One round of one contestant, as a process prints it.
///
/// @param nanos of each request
/// @param total nanoseconds of all of them
/// @param copy nanoseconds of a copy of as many bytes in memory; 0 = not measured
/// @param loopback nanoseconds of as many bytes over a plain socket; 0 = not measured
/// @param checked whether all values were right
public record KvRun(long[] nanos, long total, long copy, long loopback, boolean checked) {

  /// Without what is measured beside it.
  public static KvRun of(long[] nanos, long total, boolean checked) {
    return new KvRun(nanos, total, 0, 0, checked);
  }

  /// For `parse`.
  public String line() {
    StringBuilder line = new StringBuilder("kv ");
    line.append(checked ? "checked " : "wrong ").append(total).append(' ');
    line.append(copy).append(' ').append(loopback);
    for (long each : nanos) {
      line.append(' ').append(each);
    }
    return line.toString();
  }

  /// Of what a process has printed. Throws `PerfException.Failed` where there is no report.
  public static KvRun parse(List<String> lines) {
    String report =
        lines.stream()
            .map(it -> it.replaceFirst("^\\[\\d+\\] ", ""))
            .filter(it -> it.startsWith("kv "))
            .findFirst()
            .orElseThrow(
                () ->
                    new PerfException.Failed(
                        "the ranks have ended without a report; they have said: "
                            + (lines.isEmpty() ? "nothing" : String.join("\n", lines))));
    String[] words = report.split(" ", -1);
    long[] numbers = Arrays.stream(words).skip(2).mapToLong(Long::parseLong).toArray();
    return new KvRun(
        Arrays.copyOfRange(numbers, 3, numbers.length),
        numbers[0],
        numbers[1],
        numbers[2],
        words[1].equals("checked"));
  }
}
