// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import io.weft.qa.campaign.FaultRuns;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Runs one of the simulations for manual use (docs/simulation.md). Exits with 0 for correct
/// results, 1 for an error, 2 for a wrong command line.
public final class Simulate {

  private static final String USAGE =
      """
      usage: tools/simulate WHAT [--OPTION VALUE]...
        scale  [--ranks 1024] [--kib 1024] [--algorithm NAME] [--seed 1]
               one allreduce: its virtual time compared with the formula's, and its cost
        traffic [--workers 1,10,50,...,1000] [--servers 20] [--tensors 300] [--bytes 256]
                [--compute-us 20000] [--message-ns 1000] [--grpc-call-ns 7300] [--steps 3]
                [--seed 1] [--json FILE]
               step rate of wide-and-deep workers, with requests fused and single, and by gRPC
        kv     [--workers 1,10,100,1000] [--servers 1,10,50] [--pairs 10000] [--pushes 4] [--window 1]
               [--message-ns 1000] [--gbit 10] [--request-ns 1000] [--pair-ns 2] [--seed 1]
               [--json FILE]
               rate of pushes to a parameter server, with a check of all sums
        staleness [--runs 1000] [--seed 1]
               jobs of 16 workers and 8 servers with random delays: checks the staleness of pulls
        kv-faults [--runs 1000] [--seed 1] [--trace LINES] [--mutation NAME]
               parameter servers with mirrors that crash, pause, are cut off and are replaced: checks
               every sum; with a mutation, searches the first seed that detects it
        same   [--ranks 8] [--seed 1]
               one job in several processes with several garbage collectors: compares the traces
        hash   [--ranks 8] [--seed 1]
               the trace's hash of that job
        faults [--runs 100] [--seed 1] ...
               jobs with random work and random faults, and their errors; see --help
        membership [--runs 1000] [--seed 1]
               agreements on the next members while ranks join and are lost, two jobs a seed
        replay SEED ...
               repeats one of these jobs, with the end of its trace after an error
      """;

  private Simulate() {}

  /// Runs the program, see `USAGE`.
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
        case "kv-faults" -> ServerFaultRuns.run(rest, out);
        case "same" -> DeterminismCheck.run(rest, out);
        case "hash" -> HashRun.run(rest, out);
        case "faults" -> FaultRuns.run(rest, out);
        case "membership" -> MembershipRuns.run(rest, out);
        case "replay" -> FaultRuns.run(again(rest), out);
        default -> throw new IllegalArgumentException("give the name of a simulation");
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
