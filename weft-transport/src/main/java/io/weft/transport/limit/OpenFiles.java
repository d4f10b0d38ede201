// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.limit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// How many files and sockets this process may have open at a time. Ask for it before anything is
/// opened: where nothing more can be, the limit cannot be read either. Immutable.
///
/// @param limit in force, such as "1024"; "unknown" where the system does not show it
public record OpenFiles(String limit) {

  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Path ALWAYS_THERE = Path.of("/dev/null");
  private static final String LINE = "Max open files";
  private static final OpenFiles OF_THIS_PROCESS = new OpenFiles(read());

  /// As it was when this was first called.
  public static OpenFiles ofThisProcess() {
    return OF_THIS_PROCESS;
  }

  /// What to say after the message of something that could not be opened: how many may be open and
  /// how to raise that, or nothing where that limit is not the cause.
  public String advice(IOException refused) {
    return isExhausted(refused)
        ? " (this process may have "
            + limit
            + " files and sockets open; raise that with 'ulimit -n' where the job is started)"
        : "";
  }

  /// The system's words may be of any language; so it is tried out.
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
