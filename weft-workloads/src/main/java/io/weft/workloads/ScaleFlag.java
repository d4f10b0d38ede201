// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static io.weft.workloads.TrainCommandLine.BATCH;
import static io.weft.workloads.TrainCommandLine.BATCH_PER_RANK;
import static io.weft.workloads.TrainCommandLine.text;
import static io.weft.workloads.TrainCommandLine.whole;

import io.weft.workloads.training.RateScaling;
import io.weft.workloads.training.RateScaling.Length;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/// The option `--scale-lr` and the length of its warm-up.
final class ScaleFlag {

  static final String NAME = "--scale-lr";
  private static final String EPOCHS = "--warmup-epochs";
  private static final String STEPS = "--warmup-steps";
  private static final double MOST_EPOCHS = 1_000_000;
  private static final long MOST_STEPS = 1L << 40;

  private ScaleFlag() {}

  static void addTo(CommandSpec spec) {
    spec.addOption(
        OptionSpec.builder(NAME)
            .type(boolean.class)
            .description(
                "multiply the learning rate by the number of ranks, each with a batch of its own,"
                    + " after a warm-up")
            .build());
    TrainCommandLine.option(
        spec,
        EPOCHS,
        "E",
        "length of the warm-up of --scale-lr, for example 0.5; default 5 epochs, at most a quarter"
            + " of the training");
    TrainCommandLine.option(spec, STEPS, "N", "length of the warm-up in steps");
  }

  /// Returns the scaling, of one rank; empty if not given. Throws `BadOption`.
  static Optional<RateScaling> parse(ParseResult parsed) {
    if (!parsed.hasMatchedOption(NAME)) {
      for (String option : List.of(EPOCHS, STEPS)) {
        text(parsed, option)
            .ifPresent(
                value -> {
                  throw BadOption.of(option, value, NAME + " with it");
                });
      }
      return Optional.empty();
    }
    return Optional.of(new RateScaling(1, length(parsed)));
  }

  private static Length length(ParseResult parsed) {
    Optional<String> epochs = text(parsed, EPOCHS);
    if (text(parsed, STEPS).isPresent()) {
      epochs.ifPresent(
          value -> {
            throw BadOption.of(EPOCHS, value, "it without " + STEPS);
          });
      return new Length.Steps(whole(parsed, STEPS, 0, 0, MOST_STEPS));
    }
    return epochs.isPresent() ? new Length.Epochs(epochs(epochs.get())) : new Length.Usual();
  }

  private static double epochs(String text) {
    try {
      double epochs = Double.parseDouble(text);
      if (epochs >= 0 && epochs <= MOST_EPOCHS) {
        return epochs;
      }
    } catch (NumberFormatException e) {
      // A malformed number is reported below, like a number out of range.
    }
    throw BadOption.of(EPOCHS, text, "a number from 0 to " + (long) MOST_EPOCHS);
  }

  /// Returns the batch of each rank. With this option it is the default batch of the workload
  /// unless the user gave another. Throws `BadOption` if the user gave the batch of all ranks.
  static OptionalInt batchPerRank(ParseResult parsed, OptionalInt given, int otherwise) {
    if (!parsed.hasMatchedOption(NAME) || given.isPresent()) {
      return given;
    }
    if (text(parsed, BATCH).isPresent()) {
      throw new BadOption(
          "%s: expected %s B with it, not %s, which does not grow with the ranks"
              .formatted(NAME, BATCH_PER_RANK, BATCH));
    }
    return OptionalInt.of(otherwise);
  }

  /// Throws `BadOption` for a training whose steps do not see a batch of each rank at one rate.
  static void requireFits(TrainingSettings settings, boolean servers) {
    if (settings.scaling().isEmpty()) {
      return;
    }
    if (servers) {
      throw refused("--via allreduce with it; servers apply the gradient of each worker");
    }
    if (!(settings.sync() instanceof Sync.Gradients)) {
      throw refused(
          "--sync gradients with it, not "
              + settings.sync()
              + ", with which each rank takes steps of its own");
    }
    if (!settings.optimizer().followsGradientScale()) {
      throw refused(
          "--optimizer sgd or momentum with it, not "
              + settings.optimizer()
              + ", which normalizes the gradients");
    }
  }

  private static BadOption refused(String expected) {
    return new BadOption(NAME + ": expected " + expected);
  }
}
