// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import io.weft.qa.keyvalue.FaultyJobRuns;
import java.io.PrintStream;
import java.util.List;

/// Parameter servers with mirrors under faults.
final class ServerFaultRuns {

  private ServerFaultRuns() {}

  /// Prints a line for each seed with an error, and a summary. Returns the exit code.
  static int run(List<String> arguments, PrintStream out) throws InterruptedException {
    Options options = new Options(arguments, "runs", "seed", "trace", "mutation");
    long seed = options.number("seed", 1);
    int runs = options.count("runs", 1_000);
    String mutation = options.text("mutation", "");
    return mutation.isEmpty()
        ? FaultyJobRuns.run(seed, runs, (int) options.number("trace", 0), out)
        : FaultyJobRuns.search(mutation, seed, runs, out);
  }
}
