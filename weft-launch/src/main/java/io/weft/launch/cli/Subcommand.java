// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import picocli.CommandLine;

/// A subcommand of `weft` from another jar, found with the service loader.
public interface Subcommand {

  /// Returns a new command line, whose specification has the command's name. The caller sets its
  /// output and reports wrong arguments. Exit codes: 0 done, 1 failed, 2 wrong command line, 3 a
  /// requirement is missing.
  CommandLine commandLine();
}
