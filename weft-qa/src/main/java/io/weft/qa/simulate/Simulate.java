// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import io.weft.qa.campaign.FaultRuns;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Runs one of the simulations that are kept to be run by hand (docs/simulation.md). Exit code 0:
/// all is as it should be; 1: it is not; 2: the call was wrong.
public final class Simulate {

  private static final String USAGE =
      """
      usage: tools/simulate WHAT [--OPTION VALUE]...
        scale  [--ranks 1024] [--kib 1024] [--algorithm NAME] [--seed 1]
               one allreduce: its virtual time beside the formula's, and what it cost
        traffic [--workers 1,10,50,...,1000] [--servers 20] [--tensors 300] [--bytes 256]
                [--compute-us 20000] [--message-ns 1000] [--steps 3] [--seed 1] [--json FILE]
               steps of wide-and-deep workers a second, with requests fused and single
        kv     [--workers 1,10,100,1000] [--servers 1,10,50] [--pairs 10000] [--pushes 4] [--window 1]
               [--message-ns 1000] [--gbit 10] [--request-ns 1000] [--pair-ns 2] [--seed 1]
               [--json FILE]
               pushes to a parameter server a second, all sums checked
        staleness [--runs 1000] [--seed 1]
               jobs of 16 workers and 8 servers with random delays: whether a pull is too stale
        same   [--ranks 8] [--seed 1]
               one job in several processes with several garbage collectors: one trace
        hash   [--ranks 8] [--seed 1]
               the trace's hash of that job
        faults [--runs 100] [--seed 1] ...
               jobs with random work and random faults, and what was wrong; see --help
        membership [--runs 1000] [--seed 1]
               agreements on who is in the next epoch while ranks join and are lost, two jobs a seed
        replay SEED ...
               one of these jobs again, with the end of its trace where something was wrong
      """;

  private Simulate() {}

  /// See `USAGE`.
  public static void main(String[] arguments) throws InterruptedException {
    System.exit(run(Arrays.asList(arguments), System.out));
  }

  static int run(List<String> arguments, PrintStream out) throws InterruptedException {
    List<String> rest = arguments.isEmpty() ? arguments : arguments.subList(1, arguments.size());
    try {
      return switch (arguments.isEmpty() ? "" : arguments.getFirst()) {
        case "scale" -> ScaleRun.run(rest, out);
        case "traffic" -> TrafficRun.run(rest, out);
        case "kv" -> PushRun.run(rest, out);
        case "staleness" -> StalenessRuns.run(rest, out);
        case "same" -> DeterminismCheck.run(rest, out);
        case "hash" -> HashRun.run(rest, out);
        case "faults" -> FaultRuns.run(rest, out);
        case "membership" -> MembershipRuns.run(rest, out);
        case "replay" -> FaultRuns.run(again(rest), out);
        default -> throw new IllegalArgumentException("what is to be simulated?");
      };
    } catch (IllegalArgumentException wrong) {
      out.println(wrong.getMessage());
      out.print(USAGE);
      return 2;
    }
  }

  private static List<String> again(List<String> seedFirst) {
    if (seedFirst.isEmpty()) {
      throw new IllegalArgumentException("replay needs a seed");
    }
    List<String> all =
        new ArrayList<>(List.of("--runs", "1", "--each", "--trace", "200", "--seed"));
    all.addAll(seedFirst);
    return all;
  }
}
