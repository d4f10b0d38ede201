// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.dataparallel.compress.Compression;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.ScaleFactor;
import io.weft.tensorflow.DistributedOptimizer.Updates;
import java.util.Set;

/// The gradient options of a `DistributedOptimizer`, which must be equal on all ranks.
///
/// @param updates the time at which a variable takes its part of a step
/// @param accumulation the number of passes over which gradients are added before they are averaged
/// @param localVariables names of variables that each rank trains for itself; their gradients are
///   not averaged
/// @param localFactor the factor of local variables' gradients: 1/n if each rank's local variables
///   serve the losses of all ranks, as with variables behind an alltoall
/// @param grouping the gradients that are averaged as one group
/// @param op AVERAGE, or SUM, which yields n times as much on n ranks
/// @param predivide the divisor of gradients before they are added; their sum is multiplied by it
///   and divided by n. In narrow types, a value between 1 and n keeps sums in range and small
///   gradients from vanishing
/// @param compression the wire encoding of gradients; over the reducers of a `DataParallel` it
///   combines with fusion, `join` and all other options
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

  /// The options that average gradients in each step. Each gradient is averaged alone as it becomes
  /// ready. A `DataParallel` averages all gradients as one group if they have at most 1 MiB in
  /// total.
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
  /// FLOAT32, for an operation other than SUM and AVERAGE, for a predivision that is not between
  /// 1e-30 and 1e30 or is combined with SUM, and for compression combined with updates in shares.
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

  /// Returns whether gradients are averaged without predivision or compression.
  boolean isPlainMean() {
    return op == ReduceOp.AVERAGE && predivide == 1 && compression instanceof Compression.None;
  }

  /// Returns these options with another time of updates.
  public GradientOptions with(Updates other) {
    return of(other, accumulation, grouping, op, predivide, compression);
  }

  /// Returns these options with gradients added over several passes: Horovod's
  /// `backward_passes_per_step`.
  public GradientOptions with(Accumulation other) {
    return of(updates, other, grouping, op, predivide, compression);
  }

  /// Returns these options with another grouping.
  public GradientOptions with(Grouping other) {
    return of(updates, accumulation, other, op, predivide, compression);
  }

  /// Returns these options with another operation, SUM or AVERAGE: Horovod's `op`.
  public GradientOptions with(ReduceOp other) {
    return of(updates, accumulation, grouping, other, predivide, compression);
  }

  /// Returns these options with another wire encoding of gradients: Horovod's `compression`.
  public GradientOptions with(Compression other) {
    return of(updates, accumulation, grouping, op, predivide, other);
  }

  /// Returns these options with gradients divided before they are added: Horovod's
  /// `gradient_predivide_factor`.
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

  /// Returns these options with variables that each rank trains for itself.
  public GradientOptions withLocal(Set<String> variables, double factor) {
    return new GradientOptions(
        updates, accumulation, variables, factor, grouping, op, predivide, compression);
  }

  /// The accumulation of gradients over several passes.
  ///
  /// @param passes the number of runs of a step per update of the variables
  /// @param total the combination of the passes' gradients
  public record Accumulation(int passes, Total total) {

    /// No accumulation: every pass is a step.
    public static final Accumulation NONE = new Accumulation(1, Total.SUM);

    /// Throws `IllegalArgumentException` for less than one pass.
    public Accumulation {
      if (passes < 1) {
        throw new IllegalArgumentException(
            "gradients are accumulated over at least 1 pass, got " + passes);
      }
    }
  }

  /// The combination of several passes' gradients.
  public enum Total {
    /// Their sum.
    SUM,
    /// Their mean.
    MEAN
  }
}
