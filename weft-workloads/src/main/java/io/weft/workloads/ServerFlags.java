// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static io.weft.workloads.TrainCommandLine.text;
import static io.weft.workloads.TrainCommandLine.whole;

import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.parameterserver.GraphRuntime;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.training.Sync;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/// The options of a training with parameter servers.
final class ServerFlags {

  private static final String VIA = "--via";
  private static final String WORKERS = "--workers";
  private static final String SERVERS = "--servers";
  private static final String BACKUP = "--backup";
  private static final String STALENESS = "--staleness";
  private static final String DENSE = "--dense";
  private static final String ALLREDUCE = "allreduce";
  private static final int MOST = 4096;
  private static final int MOST_STALENESS = 1_000_000;

  /// Options of other trainings that do not apply here.
  private static final List<String> NOT_HERE = List.of("--read");

  private ServerFlags() {}

  static void addTo(CommandSpec spec) {
    TrainCommandLine.option(
        spec,
        VIA,
        "HOW",
        "allreduce (default); weft: parameter servers over Weft, --sync async (default) or"
            + " gradients; grpc: like weft, but over TensorFlow's own runtime, whose ports accept"
            + " any peer, with the jar of weft-perf; ps: tensors and tables of a parameter server"
            + " by keys");
    TrainCommandLine.option(
        spec, WORKERS, "W", "workers of parameter servers; default 1, or as in TF_CONFIG");
    TrainCommandLine.option(spec, SERVERS, "M", "parameter servers; default 1, or as in TF_CONFIG");
    TrainCommandLine.option(
        spec, BACKUP, "N", "workers for which no step waits, with --sync gradients; default 0");
    TrainCommandLine.option(
        spec,
        STALENESS,
        "S",
        "with --via ps: async (default): no worker waits; 0: all take each step together; N: a"
            + " worker is at most N steps ahead of one whose gradients it lacks");
    TrainCommandLine.option(
        spec,
        DENSE,
        "WHERE",
        "with --via ps, the place of dense layers: servers (default), or allreduce: on each"
            + " worker, with the sum of all workers' gradients");
  }

  /// Returns whether parameter servers are requested.
  static boolean asked(ParseResult parsed) {
    return text(parsed, VIA).filter(how -> !how.equals(ALLREDUCE)).isPresent();
  }

  /// Returns the numbers of tasks; empty if no servers are requested. Throws `BadOption`.
  ///
  /// @param task that `TF_CONFIG` assigns to this process, with its cluster
  static Optional<Servers> servers(ParseResult parsed, Optional<ConfiguredTask> task) {
    Optional<String> via = text(parsed, VIA);
    if (via.isEmpty() || !asked(parsed)) {
      refuse(parsed, List.of(WORKERS, SERVERS, BACKUP), "--via weft, grpc or ps with it");
      refuse(parsed, List.of(STALENESS, DENSE), "--via ps with it");
      return Optional.empty();
    }
    Servers.Via how =
        Arrays.stream(Servers.Via.values())
            .filter(known -> known.toString().equals(via.get()))
            .findFirst()
            .orElseThrow(() -> BadOption.of(VIA, via.get(), ALLREDUCE + ", weft, grpc or ps"));
    if (how == Servers.Via.GRPC && GraphRuntime.find(how).isEmpty()) {
      throw BadOption.of(
          VIA, via.get(), ALLREDUCE + ", weft or ps; " + how + " needs the jar of weft-perf");
    }
    refuse(parsed, NOT_HERE, "no such option with " + VIA + " " + how);
    if (how == Servers.Via.PS) {
      refuse(parsed, List.of("--sync", BACKUP), "--staleness with " + VIA + " ps");
      refuse(parsed, List.of("--checkpoint"), "no such option with " + VIA + " ps");
    } else {
      refuse(parsed, List.of(STALENESS, DENSE), "--via ps with it");
      text(parsed, "--optimizer")
          .filter(name -> name.equals(OptimizerKind.ADAM.toString()))
          .ifPresent(
              name -> {
                throw BadOption.of(
                    "--optimizer", name, "sgd, momentum or adagrad with parameter servers");
              });
    }
    int workers = count(parsed, WORKERS, task.map(ConfiguredTask::workers));
    int servers = count(parsed, SERVERS, task.map(ConfiguredTask::servers));
    boolean waits = !(sync(parsed) instanceof Sync.Asynchronous);
    int backup = (int) whole(parsed, BACKUP, 0, 0, waits ? workers - 1 : 0);
    Servers.Dense dense =
        TrainCommandLine.choice(parsed, DENSE, Servers.Dense.values(), Servers.Dense.SERVERS);
    return Optional.of(new Servers(how, workers, servers, backup, dense));
  }

  /// Throws `BadOption` if dense layers are to be on the workers in a workload without tables.
  static void requireFits(Optional<Servers> servers, Workload workload) {
    if (servers.isPresent()
        && servers.get().dense() == Servers.Dense.ALLREDUCE
        && workload != Workload.WIDE_DEEP) {
      throw BadOption.of(
          DENSE,
          ALLREDUCE,
          Servers.Dense.SERVERS + " with " + workload.title() + "; allreduce needs wide-deep");
    }
  }

  private static void refuse(ParseResult parsed, List<String> options, String expected) {
    for (String option : options) {
      text(parsed, option)
          .ifPresent(
              value -> {
                throw BadOption.of(option, value, expected);
              });
    }
  }

  private static int count(ParseResult parsed, String option, Optional<Integer> configured) {
    int count = (int) whole(parsed, option, configured.orElse(1), 1, MOST);
    if (configured.isPresent() && configured.get() != count) {
      throw BadOption.of(
          option, "" + count, configured.get() + ", as TF_CONFIG has it; leave " + option + " out");
    }
    return count;
  }

  /// Returns how workers keep their models consistent. Throws `BadOption`.
  static Sync sync(ParseResult parsed) {
    if (text(parsed, VIA).filter(Servers.Via.PS.toString()::equals).isPresent()) {
      return staleness(parsed);
    }
    String how = text(parsed, "--sync").orElse("async");
    return switch (how) {
      case "async" -> new Sync.Asynchronous();
      case "gradients" -> new Sync.Gradients();
      default -> throw BadOption.of("--sync", how, "async or gradients with parameter servers");
    };
  }

  private static Sync staleness(ParseResult parsed) {
    if (text(parsed, STALENESS).orElse("async").equals("async")) {
      return new Sync.Asynchronous();
    }
    int steps;
    try {
      steps = (int) whole(parsed, STALENESS, 0, 0, MOST_STALENESS);
    } catch (BadOption wrong) {
      throw BadOption.of(
          STALENESS,
          text(parsed, STALENESS).orElse(""),
          "async or a whole number from 0 to " + MOST_STALENESS);
    }
    return steps == 0 ? new Sync.Gradients() : new Sync.Bounded(steps);
  }
}
