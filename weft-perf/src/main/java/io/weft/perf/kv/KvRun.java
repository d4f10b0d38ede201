// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.perf.process.PerfException;
import java.util.Arrays;
import java.util.List;

/// One round of one contestant in the form that a process prints.
///
/// @param nanos time of each request
/// @param total time of all requests in nanoseconds
/// @param copy nanoseconds of copying the same bytes in memory, 0 if not measured
/// @param loopback nanoseconds of sending the same bytes over a plain socket, 0 if not measured
/// @param checked true if all values were right
public record KvRun(long[] nanos, long total, long copy, long loopback, boolean checked) {

  /// Creates a round without the times of copy and socket.
  public static KvRun of(long[] nanos, long total, boolean checked) {
    return new KvRun(nanos, total, 0, 0, checked);
  }

  /// Returns the line that `parse` reads.
  public String line() {
    StringBuilder line = new StringBuilder("kv ");
    line.append(checked ? "checked " : "wrong ").append(total).append(' ');
    line.append(copy).append(' ').append(loopback);
    for (long each : nanos) {
      line.append(' ').append(each);
    }
    return line.toString();
  }

  /// Parses a process's output. Throws `PerfException.Failed` if it has no report.
  public static KvRun parse(List<String> lines) {
    String report =
        lines.stream()
            .map(it -> it.replaceFirst("^\\[\\d+\\] ", ""))
            .filter(it -> it.startsWith("kv "))
            .findFirst()
            .orElseThrow(
                () ->
                    new PerfException.Failed(
                        "the ranks have ended without a report; their output: "
                            + (lines.isEmpty() ? "none" : String.join("\n", lines))));
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
