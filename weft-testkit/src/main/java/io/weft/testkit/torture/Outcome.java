// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.torture;

import java.util.List;
import java.util.Locale;

/// How one harmed job ended.
///
/// @param harm what was done
/// @param seed repeats this repetition
/// @param victim to whom: `rank 2`, `0-3`, `0,1|2,3`
/// @param momentSeconds when, after the job could be harmed
/// @param survivorSeconds from the harm to the end of the last survivor
/// @param jobSeconds from the harm to the end of the launcher
/// @param faults what was wrong; empty = all was as it must be
public record Outcome(
    Harm harm,
    long seed,
    String victim,
    double momentSeconds,
    double survivorSeconds,
    double jobSeconds,
    List<String> faults) {

  /// Copies the list.
  public Outcome {
    faults = List.copyOf(faults);
  }

  /// Whether all was as it must be.
  public boolean good() {
    return faults.isEmpty();
  }

  /// One line.
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%-9s seed %-6d %-8s at %5.2f s  survivors ended after %5.2f s, the job after %5.2f s  %s",
        harm.word(),
        seed,
        victim,
        momentSeconds,
        survivorSeconds,
        jobSeconds,
        good() ? "ok" : "FAILED: " + String.join("; ", faults));
  }

  String json() {
    return String.format(
        Locale.ROOT,
        "{\"harm\":\"%s\",\"seed\":%d,\"victim\":\"%s\",\"momentSeconds\":%.3f,"
            + "\"survivorSeconds\":%.3f,\"jobSeconds\":%.3f,\"faults\":[%s]}",
        harm.word(),
        seed,
        victim,
        momentSeconds,
        survivorSeconds,
        jobSeconds,
        String.join(",", faults.stream().map(Outcome::quoted).toList()));
  }

  private static String quoted(String text) {
    var quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
