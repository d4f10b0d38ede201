// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.dataparallel.compress.Compression;
import io.weft.workloads.training.GradientExchange;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/// The options for the exchange of gradients in synchronous training.
final class GradientFlags {

  static final String AUTOTUNE = "--autotune";
  static final String AUTOTUNE_LOG = "--autotune-log";
  static final String AUTOTUNE_STORE = "--autotune-store";
  static final String OPTIMIZER_SHARES = "--optimizer-shares";
  private static final String AUTOTUNE_VARIABLE = "HOROVOD_AUTOTUNE";

  private GradientFlags() {}

  static void addTo(CommandSpec spec) {
    TrainCommandLine.option(spec, CompressionFlag.NAME, "HOW", CompressionFlag.DESCRIPTION);
    spec.addOption(
        OptionSpec.builder(ShardsFlag.NAME)
            .arity("0..1")
            .fallbackValue(ShardsFlag.DEFAULT)
            .paramLabel("HOW")
            .type(String.class)
            .description(ShardsFlag.DESCRIPTION)
            .build());
    spec.addOption(
        OptionSpec.builder(AUTOTUNE)
            .arity("0")
            .type(Boolean.class)
            .description("search during the first steps for the fastest exchange of gradients")
            .build());
    spec.addOption(
        OptionSpec.builder(OPTIMIZER_SHARES)
            .arity("0")
            .type(Boolean.class)
            .description(
                "each of n ranks updates 1/n of the weights and keeps 1/n of the optimizer's"
                    + " state; the weights usually have the same bits")
            .build());
    TrainCommandLine.option(spec, AUTOTUNE_LOG, "FILE", "write autotuner samples there, as CSV");
    TrainCommandLine.option(
        spec,
        AUTOTUNE_STORE,
        "DIR",
        "keep the autotuner's values there; the next run on an equal number and layout of ranks"
            + " uses them without a search");
  }

  /// Parses the options. Throws `BadOption`.
  ///
  /// @param environment in which Horovod's variable may request an autotuner
  static GradientExchange parse(ParseResult parsed, Map<String, String> environment) {
    Compression compression =
        CompressionFlag.parse(TrainCommandLine.text(parsed, CompressionFlag.NAME));
    Optional<GradientExchange.Shards> shards =
        ShardsFlag.parse(TrainCommandLine.text(parsed, ShardsFlag.NAME));
    boolean inShares = parsed.hasMatchedOption(OPTIMIZER_SHARES);
    if (asksForTuning(parsed, shards, environment)) {
      requirePlain(compression, shards);
      if (inShares) {
        throw BadOption.of(OPTIMIZER_SHARES, "on", "it without " + AUTOTUNE);
      }
      return new GradientExchange.Tuned(TrainCommandLine.directory(parsed, AUTOTUNE_STORE));
    }
    TrainCommandLine.text(parsed, AUTOTUNE_STORE)
        .ifPresent(
            given -> {
              throw BadOption.of(AUTOTUNE_STORE, given, AUTOTUNE + " with it");
            });
    if (inShares) {
      requireWithoutShares(compression, shards);
      return new GradientExchange.InShares();
    }
    if (shards.isEmpty()) {
      return new GradientExchange.Averaged(compression);
    }
    if (!(compression instanceof Compression.None)) {
      throw BadOption.of(
          CompressionFlag.NAME,
          compression.toString(),
          "none with "
              + ShardsFlag.NAME
              + ": the residual of compression depends on the number of ranks");
    }
    return shards.get();
  }

  /// Returns whether to autotune. Another exchange on the command line overrides Horovod's
  /// variable.
  private static boolean asksForTuning(
      ParseResult parsed,
      Optional<GradientExchange.Shards> shards,
      Map<String, String> environment) {
    boolean other =
        shards.isPresent()
            || parsed.hasMatchedOption(CompressionFlag.NAME)
            || parsed.hasMatchedOption(OPTIMIZER_SHARES)
            || StepFlags.asked(parsed)
            || parsed.hasMatchedOption(SyncFlag.NAME)
            || parsed.hasMatchedOption("--via");
    return parsed.hasMatchedOption(AUTOTUNE)
        || (!other && "1".equals(environment.get(AUTOTUNE_VARIABLE)));
  }

  /// Returns a notice about Horovod's variable; empty if it is not set.
  static Optional<String> variable(TrainingSettings settings, Map<String, String> environment) {
    return Optional.ofNullable(environment.get(AUTOTUNE_VARIABLE))
        .map(
            value ->
                AUTOTUNE_VARIABLE
                    + "="
                    + value
                    + (settings.exchange() instanceof GradientExchange.Tuned
                        ? " is understood as " + AUTOTUNE
                        : " changes nothing: 1 would mean "
                            + AUTOTUNE
                            + ", where the command line requests no other exchange"));
  }

  private static void requirePlain(
      Compression compression, Optional<GradientExchange.Shards> shards) {
    if (!(compression instanceof Compression.None)) {
      throw BadOption.of(CompressionFlag.NAME, compression.toString(), "none with " + AUTOTUNE);
    }
    if (shards.isPresent()) {
      throw BadOption.of(
          ShardsFlag.NAME, shards.get().toString(), "it without " + AUTOTUNE + ": no step fuses");
    }
  }

  private static void requireWithoutShares(
      Compression compression, Optional<GradientExchange.Shards> shards) {
    if (!(compression instanceof Compression.None)) {
      throw BadOption.of(
          CompressionFlag.NAME, compression.toString(), "none with " + OPTIMIZER_SHARES);
    }
    if (shards.isPresent()) {
      throw BadOption.of(
          ShardsFlag.NAME, shards.get().toString(), "it without " + OPTIMIZER_SHARES);
    }
  }

  /// Throws `BadOption` for a training in which ranks exchange no gradients.
  static void requireFits(TrainingSettings settings, boolean servers) {
    GradientExchange exchange = settings.exchange();
    boolean averages = settings.sync() instanceof Sync.Gradients && !servers;
    if (!averages && !exchange.equals(GradientExchange.PLAIN)) {
      throw BadOption.of(
          option(exchange),
          exchange.toString(),
          "it only with --sync gradients and --via allreduce, where ranks exchange gradients");
    }
  }

  /// Returns the number of threads: 1 by default with shards, because more may change bits.
  ///
  /// @param given by the user
  static OptionalInt threads(TrainingSettings settings, OptionalInt given) {
    boolean one = settings.exchange() instanceof GradientExchange.Shards && given.isEmpty();
    return one ? OptionalInt.of(1) : given;
  }

  /// Returns the values that must be equal on all ranks, by option.
  static Map<String, String> facts(TrainingSettings settings, OptionalInt threads) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put(CompressionFlag.NAME, "none");
    facts.put(ShardsFlag.NAME, "none");
    facts.put(AUTOTUNE, "off");
    facts.put(OPTIMIZER_SHARES, "off");
    facts.put(option(settings.exchange()), settings.exchange().toString());
    boolean shards = settings.exchange() instanceof GradientExchange.Shards;
    facts.put("--threads", shards ? "" + threads.orElseThrow() : "any");
    return facts;
  }

  /// Returns the name of the option that requests this exchange.
  static String option(GradientExchange exchange) {
    return switch (exchange) {
      case GradientExchange.Averaged _ -> CompressionFlag.NAME;
      case GradientExchange.Tuned _ -> AUTOTUNE;
      case GradientExchange.InShares _ -> OPTIMIZER_SHARES;
      case GradientExchange.Shards _ -> ShardsFlag.NAME;
    };
  }
}
