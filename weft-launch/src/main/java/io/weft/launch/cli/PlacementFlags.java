// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.WeftConfig;
import io.weft.cluster.JobConfig;
import io.weft.launch.job.HostSlots;
import io.weft.launch.job.JobPlan;
import io.weft.launch.job.RankPlacement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The flags of `run` and `train` for the number of ranks, their hosts and their output.
final class PlacementFlags {

  private static final int MOST_RANKS = 4096;

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec spec;

  @Option(
      names = "-np",
      paramLabel = "N",
      description = "number of ranks (default: the slots of -H or --hostfile, else 1)")
  private @Nullable Integer ranks;

  @Option(
      names = "-H",
      paramLabel = "HOSTS",
      description = "hosts and their slots, such as h1:4,h2:4; reached by ssh without a password")
  private @Nullable String hosts;

  @Option(
      names = "--hostfile",
      paramLabel = "FILE",
      description = "hosts, one per line: HOST slots=N")
  private @Nullable Path hostfile;

  @Option(
      names = "--bind-to",
      paramLabel = "WHAT",
      defaultValue = "none",
      description =
          "core: each rank keeps to its share of its host's processors; none: all may use all"
              + " (default: ${DEFAULT-VALUE})")
  private String bindTo = "none";

  @Option(
      names = "--output-dir",
      paramLabel = "DIR",
      description =
          "also keep each rank's output, as DIR/rank.N/stdout and stderr, and its exit code, as"
              + " exit")
  private @Nullable Path outputDirectory;

  @Option(
      names = "--ssh",
      paramLabel = "COMMAND",
      defaultValue = "ssh",
      description = "the ssh to use, with its options (default: ${DEFAULT-VALUE})")
  private String ssh = "ssh";

  @Option(
      names = "-x",
      paramLabel = "NAME[=VALUE]",
      description = "also give this variable to ranks on other hosts; may be repeated")
  private List<String> exports = new ArrayList<>();

  /// Returns true if the command line requests a new job.
  boolean areGiven() {
    return ranks != null || hosts != null || hostfile != null;
  }

  /// Returns the placement of the ranks. Throws `ParameterException` for wrong flags.
  ///
  /// @param wanted the required number of ranks; empty = the number of the flags
  List<RankPlacement> placements(OptionalInt wanted) {
    try {
      if (wanted.isPresent() && ranks != null && ranks != wanted.getAsInt()) {
        throw new IllegalArgumentException(
            "-np is "
                + ranks
                + ", but workers and servers are "
                + wanted.getAsInt()
                + "; leave -np out");
      }
      @Nullable Integer count = wanted.isPresent() ? Integer.valueOf(wanted.getAsInt()) : ranks;
      if (hosts != null && hostfile != null) {
        throw new IllegalArgumentException("-H and --hostfile exclude each other");
      }
      if (count != null && (count < 1 || count > MOST_RANKS)) {
        throw new IllegalArgumentException(
            "-np is " + count + "; it must be from 1 to " + MOST_RANKS);
      }
      if (hosts == null && hostfile == null) {
        return RankPlacement.here(count == null ? 1 : count);
      }
      List<HostSlots> list =
          hosts != null ? HostSlots.parseList(hosts) : HostSlots.readFile(file());
      long slots = list.stream().mapToLong(HostSlots::slots).sum();
      if (count == null && slots > MOST_RANKS) {
        throw new IllegalArgumentException(
            "the hosts have "
                + slots
                + " slots, more than the "
                + MOST_RANKS
                + " ranks of a job; say how many with -np");
      }
      return RankPlacement.of(count == null ? (int) slots : count, list);
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(command().commandLine(), wrong.getMessage(), wrong);
    }
  }

  /// Returns the plan of a job with these flags and the settings' flags. Throws
  /// `ParameterException` or `CommException.Setup` for wrong ones.
  JobPlan plan(List<String> program, Map<String, String> environment, JobPlan.Output output) {
    return plan(program, environment, output, OptionalInt.empty());
  }

  /// Returns the plan of a job with a required number of ranks.
  JobPlan plan(
      List<String> program,
      Map<String, String> environment,
      JobPlan.Output output,
      OptionalInt wanted) {
    List<RankPlacement> placements = placements(wanted);
    if (outputDirectory != null
        && Files.exists(outputDirectory)
        && !Files.isDirectory(outputDirectory)) {
      throw new ParameterException(
          command().commandLine(), "--output-dir " + outputDirectory + " is not a directory");
    }
    var variables = new LinkedHashMap<>(environment);
    variables.putAll(ConfigFlags.variables(command()));
    exports.forEach(export -> add(export, variables));
    WeftConfig config = ConfigFlags.config(command());
    if (config.required(JobConfig.JOIN)) {
      throw new ParameterException(
          command().commandLine(),
          "--join is for a process of a job that runs already, which is not started by this"
              + " command");
    }
    if (placements.stream().anyMatch(RankPlacement::isHere)) {
      ConfigFlags.checkHere(config);
    }
    return new JobPlan(
            placements,
            binds() ? CoreBinding.of(program) : program,
            variables,
            config,
            outputDirectory == null ? output : output.in(outputDirectory))
        .reachedBy(List.of(ssh.strip().split("\\s+")));
  }

  private boolean binds() {
    return switch (bindTo) {
      case "core" -> true;
      case "none" -> false;
      default ->
          throw new ParameterException(
              command().commandLine(), "--bind-to is '" + bindTo + "'; allowed: core, none");
    };
  }

  private void add(String export, Map<String, String> variables) {
    int equals = export.indexOf('=');
    String name = equals < 0 ? export : export.substring(0, equals);
    String value = equals < 0 ? System.getenv(name) : export.substring(equals + 1);
    if (!name.matches("[A-Za-z_][A-Za-z0-9_]*") || value == null) {
      throw new ParameterException(
          command().commandLine(), "-x " + export + ": not NAME=VALUE nor a variable that is set");
    }
    if (value.indexOf(Main.UNREADABLE) >= 0) {
      throw new ParameterException(
          command().commandLine(),
          "-x "
              + name
              + ": its value is not text in this locale's encoding ("
              + System.getProperty("sun.jnu.encoding")
              + "); set LC_ALL=C.UTF-8, or use ASCII");
    }
    variables.put(name, value);
  }

  private Path file() {
    return Objects.requireNonNull(hostfile, "checked by the caller");
  }

  private CommandSpec command() {
    return Objects.requireNonNull(spec, "picocli sets the spec");
  }
}
