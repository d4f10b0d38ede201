// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

/// What the command's exit codes mean.
final class ExitCodes {

  static final int DONE = 0;
  static final int FAILED = 1;
  static final int WRONG_USAGE = 2;
  static final int MISSING = 3;

  private ExitCodes() {}
}
