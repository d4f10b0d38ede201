// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What the ranks replay, as words of a command line.
///
/// @param model whose gradients
/// @param tensors of the model `uniform`; 0 of others
/// @param bytes of each of them; 0 of others
/// @param compute how long forward and backward pass take together
/// @param purpose what for
/// @param fusion with and without tensor fusion, in the order in which they take turns
/// @param steps that are timed in each turn
/// @param warmUp untimed steps of each before
public record GradientsPlan(
    String model,
    int tensors,
    long bytes,
    Duration compute,
    Purpose purpose,
    List<Boolean> fusion,
    int steps,
    int warmUp) {

  /// How many turns each setting has in a round.
  public static final int TURNS = 5;

  /// What steps are replayed for.
  public enum Purpose {
    /// With and without tensor fusion.
    COMPARE,
    /// An autotuner looks for the best sizes.
    TUNE,
    /// With and without recording a timeline, of one setting of tensor fusion.
    RECORD
  }

  private static final String UNIFORM = "uniform";

  /// Throws `IllegalArgumentException` for what cannot be replayed.
  public GradientsPlan {
    fusion = List.copyOf(fusion);
    var unused = build(model, tensors, bytes);
    if (compute.isNegative() || compute.compareTo(Duration.ofMinutes(1)) > 0) {
      throw new IllegalArgumentException(
          "--compute: %d ms is out of range; allowed: 0 to 60000".formatted(Span.millis(compute)));
    }
    if (purpose == Purpose.RECORD && fusion.size() != 1) {
      throw new IllegalArgumentException("recording: one setting of fusion, not " + fusion.size());
    }
    if (steps < 1 || warmUp < 0) {
      throw new IllegalArgumentException("--steps: at least 1");
    }
  }

  /// The same with an autotuner.
  public GradientsPlan tuned() {
    return with(Purpose.TUNE, List.of());
  }

  /// The same with and without recording, for each setting of fusion.
  public List<GradientsPlan> recorded() {
    return fusion.stream().map(on -> with(Purpose.RECORD, List.of(on))).toList();
  }

  private GradientsPlan with(Purpose other, List<Boolean> settings) {
    return new GradientsPlan(model, tensors, bytes, compute, other, settings, steps, warmUp);
  }

  /// What is replayed, with the time that the plan gives it.
  public GradientModel gradients() {
    return build(model, tensors, bytes).taking(compute);
  }

  /// How long a step of a model computes as published; nothing for `uniform`.
  public static Duration published(String model) {
    if (model.equals(UNIFORM)) {
      return Duration.ZERO;
    }
    GradientModel named = Architectures.named(model);
    return named.forward().plus(named.backward());
  }

  private static GradientModel build(String model, int tensors, long bytes) {
    return model.equals(UNIFORM)
        ? GradientModel.uniform(tensors, bytes)
        : Architectures.named(model);
  }

  /// For the ranks.
  List<String> words() {
    List<String> words =
        new ArrayList<>(
            List.of(
                model,
                Integer.toString(tensors),
                Long.toString(bytes),
                Long.toString(Span.nanos(compute)),
                Integer.toString(steps),
                Integer.toString(warmUp),
                purpose.name()));
    fusion.forEach(on -> words.add(on ? "on" : "off"));
    return words;
  }

  /// Reads them. Throws `IllegalArgumentException` that tells how they look.
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
