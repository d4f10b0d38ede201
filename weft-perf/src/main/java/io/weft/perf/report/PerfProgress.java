// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.report;

import java.io.Console;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.function.Consumer;

/// Says what runs now: on a terminal in a line that redraws and goes away at the end, elsewhere in
/// a line each.
///
/// @param err where to
/// @param terminal whether that is one
public record PerfProgress(PrintWriter err, boolean terminal)
    implements Consumer<String>, AutoCloseable {

  private static final String BACK_AND_ERASE = "\r\u001b[K";

  /// To `err`, which is taken for a terminal where this process has one.
  public static PerfProgress to(PrintWriter err) {
    return new PerfProgress(
        err, Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false));
  }

  @Override
  public void accept(String line) {
    if (terminal) {
      err.print(BACK_AND_ERASE + line);
    } else {
      err.println(line);
    }
    err.flush();
  }

  @Override
  public void close() {
    if (terminal) {
      err.print(BACK_AND_ERASE);
      err.flush();
    }
  }
}
