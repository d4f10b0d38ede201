// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.limit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The maximum number of files and sockets that this process may have open. It must be read before
/// it is exhausted, because reading it opens a file. Immutable.
///
/// @param limit in force, such as "1024"; "unknown" where the system does not show it
public record OpenFiles(String limit) {

  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Path ALWAYS_THERE = Path.of("/dev/null");
  private static final String LINE = "Max open files";
  private static final OpenFiles OF_THIS_PROCESS = new OpenFiles(read());

  /// Returns the limit at the time of the first call.
  public static OpenFiles ofThisProcess() {
    return OF_THIS_PROCESS;
  }

  /// Returns advice to append to the message of a failed open: the limit and how to raise it; empty
  /// if the limit is not the cause.
  public String advice(IOException refused) {
    return isExhausted(refused)
        ? " (this process may have "
            + limit
            + " files and sockets open; raise the limit with 'ulimit -n' where the job is started)"
        : "";
  }

  /// Returns whether the limit is exhausted. It tries to open a file, because the system's message
  /// may be in any language.
  private static boolean isExhausted(IOException refused) {
    if (String.valueOf(refused.getMessage()).contains("Too many open files")) {
      return true;
    }
    if (!Files.exists(ALWAYS_THERE)) {
      return false;
    }
    try (var opened = Files.newInputStream(ALWAYS_THERE)) {
      return opened.read() >= 0;
    } catch (IOException exhausted) {
      return true;
    }
  }

  private static String read() {
    try (var lines = Files.lines(LIMITS)) {
      return lines
          .filter(line -> line.startsWith(LINE))
          .map(line -> line.substring(LINE.length()).strip().split("\\s+", 2)[0])
          .findFirst()
          .orElse("unknown");
    } catch (IOException elsewhere) {
      return "unknown";
    }
  }
}
