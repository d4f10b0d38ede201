// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/// `weft java`, for the list of commands: the script `weft` runs Java directly.
@Command(
    name = "java",
    description = {
      "Runs Java with Weft on its class path, beside that of -cp or -jar, and the flags that Weft"
          + " needs.",
      ""
    },
    customSynopsis = "weft java [Java's options] CLASS|FILE.java|-jar FILE [arguments]",
    footer = {"", "Example:", "  weft run -np 2 -- weft java -cp app.jar Train"})
final class JavaCommand implements Callable<Integer> {

  @Unmatched private List<String> arguments = new ArrayList<>();

  JavaCommand() {}

  @Override
  public Integer call() {
    throw new MissingRequirement(
        "it is the script 'weft' that runs Java, with " + arguments + "; call that one");
  }
}
