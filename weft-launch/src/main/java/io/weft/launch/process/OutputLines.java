// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;

/// The lines of one stream of a program, read as they come by a thread of the platform, so that the
/// program never waits for a reader. Any thread.
public final class OutputLines {

  private final int most;
  private final ArrayDeque<String> lines = new ArrayDeque<>();
  private final Thread reader;

  private OutputLines(BufferedReader from, int most) {
    this.most = most;
    this.reader = Thread.ofPlatform().daemon().name("weft-output").unstarted(() -> read(from));
  }

  /// Takes over `from`, and closes it at its end.
  ///
  /// @param most how many lines are kept, the last ones
  public static OutputLines of(BufferedReader from, int most) {
    var lines = new OutputLines(from, most);
    lines.reader.start();
    return lines;
  }

  /// Waits at most so long for the stream's end; whether it has come.
  public boolean hasEnded(Duration within) throws InterruptedException {
    return reader.join(within);
  }

  /// What has come until now.
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
