// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.util.List;

/// A rank of `weft train`: trains, and ends with the training's exit code. Its output is the
/// user's, so nothing is added to it except uncaught exceptions.
public final class RankMain {

  private RankMain() {}

  /// Trains with these arguments.
  public static void main(String[] arguments) {
    int code;
    try {
      code = TrainingProvider.find().run(System.out, System.err, List.of(arguments));
    } catch (RuntimeException | Error uncaught) {
      System.err.println("weft: " + uncaught);
      if (System.getenv("WEFT_DEBUG") != null) {
        uncaught.printStackTrace();
      }
      code = ExitCodes.FAILED;
    }
    System.exit(code);
  }
}
