// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.testkit.job.JvmCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The `weft` command in a separate process, outside any job.
final class CommandProcess {

  private CommandProcess() {}

  static ProcessBuilder of(String... arguments) {
    // A background build ignores this signal, and its children would inherit that.
    var command = new ArrayList<>(List.of("env", "--default-signal=INT"));
    command.addAll(JvmCommand.of(Main.class, arguments));
    var builder = new ProcessBuilder(command);
    builder.environment().keySet().removeIf(name -> name.startsWith("WEFT_"));
    return builder;
  }

  /// Returns the Java process of a rank that a command has started. It needs `/proc`.
  static ProcessHandle rank(Process launcher, int rank) throws IOException {
    for (ProcessHandle process : launcher.descendants().toList()) {
      Path proc = Path.of("/proc", Long.toString(process.pid()));
      byte[] environment = Files.readAllBytes(proc.resolve("environ"));
      boolean wanted =
          new String(environment, StandardCharsets.ISO_8859_1)
              .contains("\0WEFT_RANK=" + rank + "\0");
      if (wanted && Files.readSymbolicLink(proc.resolve("exe")).endsWith("java")) {
        return process;
      }
    }
    throw new AssertionError("no process of rank " + rank);
  }
}
