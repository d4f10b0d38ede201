// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The steps that the ranks replay: a model's gradients, at the times of a backward pass. Ranks
/// receive the plan as arguments. A turn is `steps` timed steps of one setting; a round has `TURNS`
/// turns of each setting.
///
/// @param model name of the model
/// @param tensors number of tensors of the model `uniform`, 0 for others
/// @param bytes size of each tensor of the model `uniform`, 0 for others
/// @param compute duration of forward and backward pass together
/// @param purpose purpose of the steps
/// @param fusion settings of tensor fusion in the order in which they take turns
/// @param steps number of timed steps of each turn
/// @param warmUp number of untimed steps of each setting before the turns
public record GradientsPlan(
    String model,
    int tensors,
    long bytes,
    Duration compute,
    Purpose purpose,
    List<Boolean> fusion,
    int steps,
    int warmUp) {

  /// The number of turns of each setting in a round.
  public static final int TURNS = 5;

  /// The purpose of the replayed steps.
  public enum Purpose {
    /// A comparison of steps with and without tensor fusion.
    COMPARE,
    /// A search for the best sizes by an autotuner.
    TUNE,
    /// A comparison of steps with and without a timeline, for one setting of tensor fusion.
    RECORD
  }

  private static final String UNIFORM = "uniform";

  /// Throws `IllegalArgumentException` for a plan that cannot be replayed.
  public GradientsPlan {
    fusion = List.copyOf(fusion);
    var unused = build(model, tensors, bytes);
    if (compute.isNegative() || compute.compareTo(Duration.ofMinutes(1)) > 0) {
      throw new IllegalArgumentException(
          "--compute: %d ms is out of range; allowed: 0 to 60000"
              .formatted(ClampedDuration.millis(compute)));
    }
    if (purpose == Purpose.RECORD && fusion.size() != 1) {
      throw new IllegalArgumentException("recording: one setting of fusion, not " + fusion.size());
    }
    if (steps < 1 || warmUp < 0) {
      throw new IllegalArgumentException("--steps: at least 1");
    }
  }

  /// Returns this plan with an autotuner.
  public GradientsPlan tuned() {
    return with(Purpose.TUNE, List.of());
  }

  /// Returns one plan for each setting of fusion, which compares steps with and without recording.
  public List<GradientsPlan> recorded() {
    return fusion.stream().map(on -> with(Purpose.RECORD, List.of(on))).toList();
  }

  private GradientsPlan with(Purpose other, List<Boolean> settings) {
    return new GradientsPlan(model, tensors, bytes, compute, other, settings, steps, warmUp);
  }

  /// Returns the model with the plan's duration of a step.
  public GradientModel gradients() {
    return build(model, tensors, bytes).taking(compute);
  }

  /// Returns the published duration of a model's step, zero for `uniform`.
  public static Duration published(String model) {
    if (model.equals(UNIFORM)) {
      return Duration.ZERO;
    }
    return Architectures.named(model).step();
  }

  private static GradientModel build(String model, int tensors, long bytes) {
    return model.equals(UNIFORM)
        ? GradientModel.uniform(tensors, bytes)
        : Architectures.named(model);
  }

  /// Returns the word for a setting, which is also the key of its steps in a report.
  static String word(boolean isOn) {
    return isOn ? "on" : "off";
  }

  /// Returns the arguments of the ranks.
  List<String> words() {
    List<String> words =
        new ArrayList<>(
            List.of(
                model,
                Integer.toString(tensors),
                Long.toString(bytes),
                Long.toString(ClampedDuration.nanos(compute)),
                Integer.toString(steps),
                Integer.toString(warmUp),
                purpose.name()));
    fusion.forEach(on -> words.add(word(on)));
    return words;
  }

  /// Parses the arguments. Throws `IllegalArgumentException` with the expected format.
  static GradientsPlan parse(List<String> words) {
    try {
      return new GradientsPlan(
          words.get(0),
          Integer.parseInt(words.get(1)),
          Long.parseLong(words.get(2)),
          Duration.ofNanos(Long.parseLong(words.get(3))),
          Purpose.valueOf(words.get(6)),
          words.subList(7, words.size()).stream().map("on"::equals).toList(),
          Integer.parseInt(words.get(4)),
          Integer.parseInt(words.get(5)));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new IllegalArgumentException(
          "usage: MODEL TENSORS BYTES COMPUTE_NANOS STEPS WARM_UP COMPARE|TUNE|RECORD on|off...: "
              + e.getMessage(),
          e);
    }
  }
}
