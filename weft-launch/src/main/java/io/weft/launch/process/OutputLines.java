// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;

/// The lines of a program's stream. A platform thread reads them as they arrive, so that the
/// program never waits for a reader. Any thread.
public final class OutputLines {

  private final int most;
  private final ArrayDeque<String> lines = new ArrayDeque<>();
  private final Thread reader;

  private OutputLines(BufferedReader from, int most) {
    this.most = most;
    this.reader = Thread.ofPlatform().daemon().name("weft-output").unstarted(() -> read(from));
  }

  /// Takes ownership of `from`, and closes it at its end.
  ///
  /// @param most the maximum number of kept lines, the last ones
  public static OutputLines of(BufferedReader from, int most) {
    var lines = new OutputLines(from, most);
    lines.reader.start();
    return lines;
  }

  /// Waits at most `within` for the end of the stream. Returns true if it has ended.
  public boolean hasEnded(Duration within) throws InterruptedException {
    return reader.join(within);
  }

  /// Returns the lines that have arrived.
  public synchronized List<String> soFar() {
    return List.copyOf(lines);
  }

  private void read(BufferedReader from) {
    try (from) {
      from.lines().forEach(this::keep);
    } catch (IOException | UncheckedIOException lost) {
      keep("(output lost: " + lost.getMessage() + ")");
    }
  }

  private synchronized void keep(String line) {
    if (lines.size() == most) {
      lines.removeFirst();
    }
    lines.addLast(line);
  }
}
