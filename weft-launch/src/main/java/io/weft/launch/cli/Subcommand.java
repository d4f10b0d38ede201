// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import picocli.CommandLine;

/// A subcommand of `weft` that another jar brings, found with the service loader.
public interface Subcommand {

  /// A new one; its name is that of its specification. The command gives it its output and tells
  /// what is wrong with its arguments. Exit codes: 0 done, 1 failed, 2 wrong command line, 3
  /// something is missing here.
  CommandLine commandLine();
}
