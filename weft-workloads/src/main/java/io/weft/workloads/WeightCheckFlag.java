// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.dataparallel.sentinel.DivergencePolicy;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import io.weft.workloads.training.WeightCheck;
import java.util.Locale;
import java.util.Optional;

/// The option `--check-weights`.
final class WeightCheckFlag {

  static final String NAME = "--check-weights";
  static final String DESCRIPTION =
      "compare the ranks' weights every K steps; where they differ: warn (default), stop, or heal"
          + " from the majority";

  private static final String ALLOWED = "K, K,warn, K,stop or K,heal with K from 1 to 9999999";

  private WeightCheckFlag() {}

  /// Parses the option. Throws `BadOption`.
  static Optional<WeightCheck> parse(Optional<String> given) {
    return given.map(
        text -> {
          if (!text.matches("[1-9][0-9]{0,6}(,(warn|stop|heal))?")) {
            throw BadOption.of(NAME, text, ALLOWED);
          }
          int comma = text.indexOf(',');
          String policy = comma < 0 ? "warn" : text.substring(comma + 1);
          return new WeightCheck(
              Integer.parseInt(comma < 0 ? text : text.substring(0, comma)),
              DivergencePolicy.valueOf(policy.toUpperCase(Locale.ROOT)));
        });
  }

  /// Throws `BadOption` for a training whose ranks have different weights between exchanges.
  static void requireFits(TrainingSettings settings, boolean servers) {
    if (settings.check().isPresent() && (servers || !(settings.sync() instanceof Sync.Gradients))) {
      throw BadOption.of(
          NAME,
          settings.check().get().toString(),
          "it only with --sync gradients and without servers; other ranks differ on purpose");
    }
  }
}
