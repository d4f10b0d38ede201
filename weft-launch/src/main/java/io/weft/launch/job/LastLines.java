// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;

/// A rank's last lines, for the report of its failure. Bounded; thread-safe.
final class LastLines {

  private static final int LINES = 20;
  private static final int LINE_BYTES = 500;

  private final ArrayDeque<String> lines = new ArrayDeque<>();

  synchronized void add(byte[] bytes, int length) {
    String line =
        new String(bytes, 0, Math.min(length, LINE_BYTES), StandardCharsets.UTF_8).stripTrailing();
    if (line.isBlank()) {
      return;
    }
    if (lines.size() == LINES) {
      lines.removeFirst();
    }
    lines.addLast(line);
  }

  synchronized List<String> lines() {
    return List.copyOf(lines);
  }
}
