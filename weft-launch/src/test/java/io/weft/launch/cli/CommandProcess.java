// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.testkit.job.JavaCommand;
import java.util.ArrayList;
import java.util.List;

/// The `weft` command in a process of its own, outside any job.
final class CommandProcess {

  private CommandProcess() {}

  static ProcessBuilder of(String... arguments) {
    // A build in the background ignores this signal, and children would inherit that.
    var command = new ArrayList<>(List.of("env", "--default-signal=INT"));
    command.addAll(JavaCommand.of(Main.class, arguments));
    var builder = new ProcessBuilder(command);
    builder.environment().keySet().removeIf(name -> name.startsWith("WEFT_"));
    return builder;
  }
}
