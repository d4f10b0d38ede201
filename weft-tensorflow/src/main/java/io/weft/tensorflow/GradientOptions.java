// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensorflow.DistributedOptimizer.Updates;
import java.util.Set;

/// What a `DistributedOptimizer` does with gradients beside averaging them; the same on all ranks.
///
/// @param updates when a variable takes its part of a step
/// @param accumulation over how many passes gradients are added before they are averaged
/// @param localVariables names of variables that each rank trains for itself: their gradients are
///   not averaged
/// @param localFactor by which gradients of local variables are multiplied: 1/n where each rank's
///   local variables serve all ranks' losses, as those that an alltoall leads to
/// @param grouping which gradients are averaged as one group
public record GradientOptions(
    Updates updates,
    Accumulation accumulation,
    Set<String> localVariables,
    double localFactor,
    Grouping grouping) {

  /// Each gradient averaged by itself, in each step, as it comes.
  public static final GradientOptions DEFAULT =
      new GradientOptions(Updates.AS_THEY_COME, Accumulation.NONE, Set.of(), 1, Grouping.SINGLE);

  /// Throws `IllegalArgumentException` for a factor that is infinite or not a number.
  public GradientOptions {
    localVariables = Set.copyOf(localVariables);
    if (!Double.isFinite(localFactor)) {
      throw new IllegalArgumentException(
          "gradients of local variables are multiplied by a finite number, got " + localFactor);
    }
  }

  /// The same with a choice of when variables change.
  public GradientOptions with(Updates other) {
    return new GradientOptions(other, accumulation, localVariables, localFactor, grouping);
  }

  /// The same with gradients added over several passes: Horovod's `backward_passes_per_step`.
  public GradientOptions with(Accumulation other) {
    return new GradientOptions(updates, other, localVariables, localFactor, grouping);
  }

  /// The same with groups.
  public GradientOptions with(Grouping other) {
    return new GradientOptions(updates, accumulation, localVariables, localFactor, other);
  }

  /// The same with variables that each rank trains for itself.
  public GradientOptions withLocal(Set<String> variables, double factor) {
    return new GradientOptions(updates, accumulation, variables, factor, grouping);
  }

  /// Over how many passes gradients are added.
  ///
  /// @param passes how often a step is run until the variables change once
  /// @param total what is made of the passes' gradients
  public record Accumulation(int passes, Total total) {

    /// Every pass is a step.
    public static final Accumulation NONE = new Accumulation(1, Total.SUM);

    /// Throws `IllegalArgumentException` for less than one pass.
    public Accumulation {
      if (passes < 1) {
        throw new IllegalArgumentException(
            "gradients are accumulated over at least 1 pass, got " + passes);
      }
    }
  }

  /// What is made of several passes' gradients.
  public enum Total {
    /// Their sum.
    SUM,
    /// Their mean.
    MEAN
  }
}
