// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.report;

import java.io.Console;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.function.Consumer;

/// Prints the current part of a measurement. A terminal shows it in one line, which is redrawn and
/// finally erased. Other outputs receive one line for each part.
///
/// @param err the stream to print to
/// @param terminal true if `err` is a terminal
public record PerfProgress(PrintWriter err, boolean terminal)
    implements Consumer<String>, AutoCloseable {

  private static final String BACK_AND_ERASE = "\r\u001b[K";

  /// Prints to `err`, which counts as a terminal if this process has one.
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
