// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.dataparallel.compress.Compression;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.ScaleFactor;
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
/// @param op AVERAGE, or SUM: n times as much on n ranks
/// @param predivide by which gradients are divided before they are added, and their sum is
///   multiplied by it and divided by n; 1 = the sum is divided by n. In narrow types, between 1 and
///   n keeps sums in range and small gradients from vanishing
/// @param compression how gradients travel; over the reducers of a `DataParallel` it goes together
///   with fusion, `join` and all else
public record GradientOptions(
    Updates updates,
    Accumulation accumulation,
    Set<String> localVariables,
    double localFactor,
    Grouping grouping,
    ReduceOp op,
    double predivide,
    Compression compression) {

  private static final double LARGEST_PREDIVIDE = 1e30;

  /// Averages in each step, each gradient by itself as it comes, or, by a `DataParallel`, all as
  /// one group where they have at most 1 MiB in all.
  public static final GradientOptions DEFAULT =
      new GradientOptions(
          Updates.AS_THEY_COME,
          Accumulation.NONE,
          Set.of(),
          1,
          Grouping.SINGLE,
          ReduceOp.AVERAGE,
          1,
          new Compression.None());

  /// Throws `IllegalArgumentException` for a local factor that is neither 0 nor a normal number of
  /// FLOAT32, an operation other than SUM and AVERAGE, a predivision that is no number from 1e-30
  /// to 1e30, or goes with SUM, and for compression with updates in shares.
  public GradientOptions {
    localVariables = Set.copyOf(localVariables);
    if (localFactor != 0) {
      ScaleFactor.require("gradients of local variables", localFactor);
    }
    if (op != ReduceOp.AVERAGE && op != ReduceOp.SUM) {
      throw new IllegalArgumentException("gradients are combined by AVERAGE or SUM, not " + op);
    }
    if (!(predivide >= 1 / LARGEST_PREDIVIDE && predivide <= LARGEST_PREDIVIDE)) {
      throw new IllegalArgumentException(
          "gradients are divided by a number from 1e-30 to 1e30 before they are added, got "
              + predivide);
    }
    if (predivide != 1 && op == ReduceOp.SUM) {
      throw new IllegalArgumentException(
          "predivision by " + predivide + " is a way to average; it does not go with SUM");
    }
    if (updates == Updates.IN_SHARES && !(compression instanceof Compression.None)) {
      throw new IllegalArgumentException(
          "compression %s is for gradients that are allreduced; those of updates in shares are not"
              .formatted(compression));
    }
  }

  /// Whether gradients are averaged as they are.
  boolean isPlainMean() {
    return op == ReduceOp.AVERAGE && predivide == 1 && compression instanceof Compression.None;
  }

  /// The same with a choice of when variables change.
  public GradientOptions with(Updates other) {
    return of(other, accumulation, grouping, op, predivide, compression);
  }

  /// The same with gradients added over several passes: Horovod's `backward_passes_per_step`.
  public GradientOptions with(Accumulation other) {
    return of(updates, other, grouping, op, predivide, compression);
  }

  /// The same with groups.
  public GradientOptions with(Grouping other) {
    return of(updates, accumulation, other, op, predivide, compression);
  }

  /// The same with gradients that are added, by SUM, or averaged: Horovod's `op`.
  public GradientOptions with(ReduceOp other) {
    return of(updates, accumulation, grouping, other, predivide, compression);
  }

  /// The same with gradients that travel in fewer bytes: Horovod's `compression`.
  public GradientOptions with(Compression other) {
    return of(updates, accumulation, grouping, op, predivide, other);
  }

  /// The same with gradients divided before they are added: Horovod's `gradient_predivide_factor`.
  public GradientOptions predivided(double factor) {
    return of(updates, accumulation, grouping, op, factor, compression);
  }

  private GradientOptions of(
      Updates when,
      Accumulation passes,
      Grouping groups,
      ReduceOp by,
      double divided,
      Compression how) {
    return new GradientOptions(when, passes, localVariables, localFactor, groups, by, divided, how);
  }

  /// The same with variables that each rank trains for itself.
  public GradientOptions withLocal(Set<String> variables, double factor) {
    return new GradientOptions(
        updates, accumulation, variables, factor, grouping, op, predivide, compression);
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
