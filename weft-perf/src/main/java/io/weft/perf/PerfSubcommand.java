// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.launch.cli.Subcommand;
import picocli.CommandLine;

/// `weft perf`, as the command `weft` finds it.
public final class PerfSubcommand implements Subcommand {

  /// For the service loader.
  public PerfSubcommand() {}

  @Override
  public CommandLine commandLine() {
    return new CommandLine(new PerfCommand());
  }
}
