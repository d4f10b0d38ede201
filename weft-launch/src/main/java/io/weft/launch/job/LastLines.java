// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.text.Printable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;

/// A rank's last lines, made printable, for the report of its failure, and the rank that it blamed
/// in any line. Bounded; thread-safe.
final class LastLines {

  private static final int LINES = 20;
  private static final int LINE_BYTES = 500;

  private final ArrayDeque<String> lines = new ArrayDeque<>();
  private int blamed = Culprit.NOBODY;

  synchronized void add(byte[] bytes, int length) {
    String line =
        new String(bytes, 0, Math.min(length, LINE_BYTES), StandardCharsets.UTF_8).stripTrailing();
    if (line.isBlank()) {
      return;
    }
    int named = Culprit.blamedIn(line);
    blamed = named == Culprit.NOBODY ? blamed : named;
    if (lines.size() == LINES) {
      lines.removeFirst();
    }
    lines.addLast(Printable.of(line));
  }

  synchronized List<String> lines() {
    return List.copyOf(lines);
  }

  /// Returns the rank that was most recently reported lost; `Culprit.NOBODY` if none.
  synchronized int blamed() {
    return blamed;
  }
}
