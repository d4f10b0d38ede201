// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/// `weft perf` where the benchmarks are not on the class path.
@Command(
    name = "perf",
    description = "Measures Weft beside named peers; needs the jar of weft-perf.")
final class AbsentPerf implements Callable<Integer> {

  @Unmatched private List<String> arguments = new ArrayList<>();

  AbsentPerf() {}

  @Override
  public Integer call() {
    throw new MissingRequirement(
        "perf "
            + String.join(" ", arguments)
            + ": no benchmarks on the class path; add the jar of weft-perf");
  }
}
