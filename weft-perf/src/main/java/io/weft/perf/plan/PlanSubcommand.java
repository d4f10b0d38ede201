// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.launch.cli.Subcommand;
import picocli.CommandLine;

/// The subcommand `plan` of the command `weft`.
public final class PlanSubcommand implements Subcommand {

  /// For `ServiceLoader`.
  public PlanSubcommand() {}

  @Override
  public CommandLine commandLine() {
    return new CommandLine(new PlanCommand());
  }
}
