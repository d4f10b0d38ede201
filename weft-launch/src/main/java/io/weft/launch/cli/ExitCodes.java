// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

/// The exit codes of the command.
final class ExitCodes {

  static final int DONE = 0;
  static final int FAILED = 1;
  static final int WRONG_USAGE = 2;
  static final int MISSING = 3;

  private ExitCodes() {}
}
