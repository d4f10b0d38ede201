// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static io.weft.workloads.TrainCommandLine.text;
import static io.weft.workloads.TrainCommandLine.whole;

import io.weft.workloads.model.OptimizerKind;
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
  private static final String ALLREDUCE = "allreduce";
  private static final int MOST = 4096;

  /// Options of other trainings that mean nothing here.
  private static final List<String> NOT_HERE = List.of("--read");

  private ServerFlags() {}

  static void addTo(CommandSpec spec) {
    TrainCommandLine.option(
        spec,
        VIA,
        "HOW",
        "allreduce (default); weft: parameter servers over Weft, --sync async (default) or"
            + " gradients; grpc: the same over TensorFlow's own runtime, whose ports are open to"
            + " everybody, with the jar of weft-perf");
    TrainCommandLine.option(
        spec, WORKERS, "W", "with parameter servers; default 1, or what TF_CONFIG says");
    TrainCommandLine.option(
        spec, SERVERS, "M", "parameter servers; default 1, or what TF_CONFIG says");
    TrainCommandLine.option(
        spec, BACKUP, "N", "workers for which no step waits, with --sync gradients; default 0");
  }

  /// Whether servers are asked for.
  static boolean asked(ParseResult parsed) {
    return text(parsed, VIA).filter(how -> !how.equals(ALLREDUCE)).isPresent();
  }

  /// Empty where no servers are asked for. Throws `BadOption`.
  ///
  /// @param task that this process is said to be, with its cluster
  static Optional<Servers> servers(ParseResult parsed, Optional<ConfiguredTask> task) {
    Optional<String> via = text(parsed, VIA);
    if (via.isEmpty() || !asked(parsed)) {
      for (String option : List.of(WORKERS, SERVERS, BACKUP)) {
        text(parsed, option)
            .ifPresent(
                value -> {
                  throw BadOption.of(option, value, "--via weft or --via grpc with it");
                });
      }
      return Optional.empty();
    }
    Servers.Via how =
        Arrays.stream(Servers.Via.values())
            .filter(known -> known.toString().equals(via.get()))
            .findFirst()
            .orElseThrow(() -> BadOption.of(VIA, via.get(), ALLREDUCE + ", weft or grpc"));
    if (how != Servers.Via.WEFT && GraphRuntime.find(how).isEmpty()) {
      throw BadOption.of(
          VIA, via.get(), ALLREDUCE + " or weft; " + how + " needs the jar of weft-perf");
    }
    for (String option : NOT_HERE) {
      text(parsed, option)
          .ifPresent(
              value -> {
                throw BadOption.of(option, value, "nothing like it with " + VIA + " " + how);
              });
    }
    text(parsed, "--optimizer")
        .filter(name -> name.equals(OptimizerKind.ADAM.toString()))
        .ifPresent(
            name -> {
              throw BadOption.of(
                  "--optimizer", name, "sgd, momentum or adagrad with parameter servers");
            });
    int workers = count(parsed, WORKERS, task.map(ConfiguredTask::workers));
    int servers = count(parsed, SERVERS, task.map(ConfiguredTask::servers));
    boolean waits = !(sync(parsed) instanceof Sync.Asynchronous);
    int backup = (int) whole(parsed, BACKUP, 0, 0, waits ? workers - 1 : 0);
    return Optional.of(new Servers(how, workers, servers, backup));
  }

  private static int count(ParseResult parsed, String option, Optional<Integer> configured) {
    int count = (int) whole(parsed, option, configured.orElse(1), 1, MOST);
    if (configured.isPresent() && configured.get() != count) {
      throw BadOption.of(
          option, "" + count, configured.get() + ", as TF_CONFIG has it; leave " + option + " out");
    }
    return count;
  }

  /// How the workers of servers stay together. Throws `BadOption`.
  static Sync sync(ParseResult parsed) {
    String how = text(parsed, "--sync").orElse("async");
    return switch (how) {
      case "async" -> new Sync.Asynchronous();
      case "gradients" -> new Sync.Gradients();
      default -> throw BadOption.of("--sync", how, "async or gradients with parameter servers");
    };
  }
}
