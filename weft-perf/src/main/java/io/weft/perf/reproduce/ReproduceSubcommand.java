// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.launch.cli.Subcommand;
import picocli.CommandLine;

/// The subcommand `reproduce` of the command `weft`.
public final class ReproduceSubcommand implements Subcommand {

  /// For `ServiceLoader`.
  public ReproduceSubcommand() {}

  @Override
  public CommandLine commandLine() {
    return new CommandLine(new ReproduceCommand());
  }
}
