// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.workloads.training.GradientExchange;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/// The options that say how gradients become one in synchronous training.
final class GradientFlags {

  private GradientFlags() {}

  static void addTo(CommandSpec spec) {
    TrainCommandLine.option(spec, CompressionFlag.NAME, "HOW", CompressionFlag.DESCRIPTION);
  }

  /// Reads them. Throws `BadOption`.
  static GradientExchange parse(ParseResult parsed) {
    return new GradientExchange.Averaged(
        CompressionFlag.parse(TrainCommandLine.text(parsed, CompressionFlag.NAME)));
  }

  /// Throws `BadOption` for a training in which ranks exchange no gradients.
  static void requireFits(TrainingSettings settings, boolean servers) {
    GradientExchange exchange = settings.exchange();
    boolean averages = settings.sync() instanceof Sync.Gradients && !servers;
    if (!averages && !exchange.equals(GradientExchange.PLAIN)) {
      throw BadOption.of(
          option(exchange),
          exchange.toString(),
          "it only with --sync gradients and --via allreduce: else ranks exchange no gradients");
    }
  }

  /// The name of the option that asks for this.
  static String option(GradientExchange exchange) {
    return switch (exchange) {
      case GradientExchange.Averaged _ -> CompressionFlag.NAME;
    };
  }
}
