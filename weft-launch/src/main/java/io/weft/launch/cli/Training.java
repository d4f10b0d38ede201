// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.io.PrintStream;
import java.util.List;
import java.util.spi.ToolProvider;

/// The training that the workloads provide, found as the tool `weft-train`. First argument `--list`
/// names the workloads, `--validate` checks the rest of the line and the data and trains nothing.
record Training(ToolProvider tool) {

  private static final String TOOL = "weft-train";

  /// Throws `Missing` where no workloads are on the class path.
  static Training find() {
    return new Training(
        ToolProvider.findFirst(TOOL)
            .orElseThrow(
                () ->
                    new Missing(
                        "no workloads on the class path (no tool '"
                            + TOOL
                            + "'); add the jar of weft-workloads")));
  }

  /// Its exit code, one of the command's.
  int run(PrintStream out, PrintStream err, List<String> arguments) {
    return tool.run(out, err, arguments.toArray(String[]::new));
  }
}
