// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static io.weft.workloads.TrainCommandLine.text;
import static io.weft.workloads.TrainCommandLine.whole;

import io.weft.workloads.training.GradientExchange;
import io.weft.workloads.training.Shares;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/// The options `--accumulate` and `--clip`, which change the gradient of a step.
final class StepFlags {

  static final String ACCUMULATE = "--accumulate";
  static final String CLIP = "--clip";

  private static final List<String> NAMES = List.of(ACCUMULATE, CLIP);
  private static final int MOST_PASSES = 1 << 10;
  private static final double MOST_NORM = 1e30;

  private StepFlags() {}

  static void addTo(CommandSpec spec) {
    TrainCommandLine.option(
        spec,
        ACCUMULATE,
        "N",
        "sum the gradients of N batches on each rank, exchange and apply the sum once: a step of N"
            + " times the batch, in the memory of one; default 1");
    TrainCommandLine.option(
        spec,
        CLIP,
        "NORM",
        "scale a longer averaged gradient of all weights together to this norm, for example 1.0");
  }

  /// Returns whether one of the options is given.
  static boolean asked(ParseResult parsed) {
    return NAMES.stream().anyMatch(parsed::hasMatchedOption);
  }

  /// Returns the exchange with these options. Throws `BadOption`.
  ///
  /// @param by the exchange of the other options
  static GradientExchange in(ParseResult parsed, GradientExchange by) {
    int passes = passes(parsed);
    double norm = norm(parsed);
    if (by instanceof GradientExchange.Averaged averaged) {
      return new GradientExchange.Averaged(averaged.compression(), passes, norm);
    }
    for (String option : NAMES) {
      text(parsed, option)
          .ifPresent(
              value -> {
                throw BadOption.of(option, value, "it without " + GradientFlags.option(by));
              });
    }
    return by;
  }

  /// Returns the number of batches in a step. Throws `BadOption`.
  static int passes(ParseResult parsed) {
    return (int) whole(parsed, ACCUMULATE, 1, 1, MOST_PASSES);
  }

  /// Returns the examples of a step of batches of this size. Throws `BadOption` for too many.
  static int examples(ParseResult parsed, int batch, int most) {
    int passes = passes(parsed);
    if ((long) batch * passes > most) {
      throw BadOption.of(
          ACCUMULATE, "" + passes, "at most %d batches of %d".formatted(most / batch, batch));
    }
    return batch * passes;
  }

  private static double norm(ParseResult parsed) {
    String text = text(parsed, CLIP).orElse("");
    if (text.isEmpty() && !parsed.hasMatchedOption(CLIP)) {
      return Double.POSITIVE_INFINITY;
    }
    try {
      double norm = Double.parseDouble(text);
      if (norm > 0 && norm <= MOST_NORM) {
        return norm;
      }
    } catch (NumberFormatException e) {
      // A malformed number is reported below, like a number out of range.
    }
    throw BadOption.of(CLIP, text, "a number above 0 and at most 1e30");
  }

  /// Throws `BadOption` for a training whose steps average no gradients, or whose ranks change
  /// their shares of a batch.
  static void requireFits(TrainingSettings settings, boolean servers) {
    if (servers || !(settings.sync() instanceof Sync.Gradients)) {
      given(settings)
          .forEach(
              (option, value) -> {
                throw BadOption.of(
                    option,
                    value,
                    "it only with --sync gradients and --via allreduce, where ranks average"
                        + " gradients");
              });
    }
    if (settings.passes() > 1 && settings.shares() != Shares.EQUAL) {
      throw BadOption.of(ACCUMULATE, "" + settings.passes(), "it without --balance");
    }
  }

  private static Map<String, String> given(TrainingSettings settings) {
    Map<String, String> given = facts(settings);
    given.values().removeIf("none"::equals);
    return given;
  }

  /// Returns the values that must be equal on all ranks, by option.
  static Map<String, String> facts(TrainingSettings settings) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put(ACCUMULATE, settings.passes() > 1 ? "" + settings.passes() : "none");
    boolean clips = settings.largestNorm() < Double.POSITIVE_INFINITY;
    facts.put(CLIP, clips ? "" + settings.largestNorm() : "none");
    return facts;
  }
}
