// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/// The `weft` command in this process, and its output.
final class TypedCommand {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  /// Runs the command and returns its exit code.
  int run(String... arguments) {
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(err));
    return Main.run(line, arguments);
  }

  String out() {
    return out.toString();
  }

  String err() {
    return err.toString();
  }
}
