// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.launch.cli.Subcommand;
import picocli.CommandLine;

/// The subcommand `perf` of the command `weft`.
public final class PerfSubcommand implements Subcommand {

  /// For `ServiceLoader`.
  public PerfSubcommand() {}

  @Override
  public CommandLine commandLine() {
    return new CommandLine(new PerfCommand());
  }
}
