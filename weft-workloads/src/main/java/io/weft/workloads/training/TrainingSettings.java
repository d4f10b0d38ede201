// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.rate.LearningRateWarmup;
import io.weft.workloads.checkpoint.Manifest;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.EngineKind;
import io.weft.workloads.model.Hidden;
import io.weft.workloads.model.Model;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Readings;
import io.weft.workloads.model.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Optional;

/// The settings of a training run, which are equal on all ranks.
///
/// @param workload network and data
/// @param epochs passes over the data
/// @param batch examples in a step, over all ranks
/// @param rate of learning
/// @param optimizer that applies gradients
/// @param seed of weights, order and embedded data
/// @param sync how ranks keep their models consistent
/// @param read the ranks that read the data
/// @param checkpoint directory to save to and resume from
/// @param check the comparison of weights between ranks; only with `Sync.Gradients`
/// @param exchange of gradients; an exchange other than plain requires `Sync.Gradients`
/// @param hidden layers of the network
/// @param shares of the ranks of a batch; other than equal only with `Sync.Gradients` and
///   `GradientExchange.Averaged`
/// @param limit of the run, which may have fewer epochs then
/// @param engine that computes the network
/// @param scaling of the rate with the ranks; only with `Sync.Gradients` and an optimizer whose
///   updates follow the scale of the gradients
public record TrainingSettings(
    Workload workload,
    int epochs,
    int batch,
    float rate,
    OptimizerKind optimizer,
    long seed,
    Sync sync,
    ReadMode read,
    Optional<Path> checkpoint,
    Optional<WeightCheck> check,
    GradientExchange exchange,
    Hidden hidden,
    Shares shares,
    Limit limit,
    EngineKind engine,
    Optional<RateScaling> scaling) {

  /// Creates settings of TensorFlow with plain gradients and standard layers, without weight check
  /// or limit.
  public TrainingSettings(
      Workload workload,
      int epochs,
      int batch,
      float rate,
      OptimizerKind optimizer,
      long seed,
      Sync sync,
      ReadMode read,
      Optional<Path> checkpoint) {
    this(
        workload,
        epochs,
        batch,
        rate,
        optimizer,
        seed,
        sync,
        read,
        checkpoint,
        Optional.empty(),
        GradientExchange.PLAIN,
        Hidden.STANDARD,
        Shares.EQUAL,
        Limit.NONE,
        EngineKind.TENSORFLOW,
        Optional.empty());
  }

  /// Returns these settings with another check of weights.
  public TrainingSettings with(WeightCheck other) {
    return of(batch, Optional.of(other), exchange, hidden, shares, limit, scaling);
  }

  /// Returns these settings with another exchange of gradients.
  public TrainingSettings with(GradientExchange other) {
    return of(batch, check, other, hidden, shares, limit, scaling);
  }

  /// Returns these settings with other hidden layers.
  public TrainingSettings with(Hidden other) {
    return of(batch, check, exchange, other, shares, limit, scaling);
  }

  /// Returns these settings with a time limit.
  public TrainingSettings with(Duration other) {
    return with(new Limit(Optional.of(other), limit.steps()));
  }

  /// Returns these settings with other limits.
  public TrainingSettings with(Limit other) {
    return of(batch, check, exchange, hidden, shares, other, scaling);
  }

  /// Returns these settings with another number of examples in a step.
  public TrainingSettings withBatch(int other) {
    return of(other, check, exchange, hidden, shares, limit, scaling);
  }

  /// Returns these settings with other shares.
  public TrainingSettings with(Shares other) {
    return of(batch, check, exchange, hidden, other, limit, scaling);
  }

  /// Returns these settings with another scaling of the rate.
  public TrainingSettings with(RateScaling other) {
    return of(batch, check, exchange, hidden, shares, limit, Optional.of(other));
  }

  /// Returns the rates of a training with this number of steps in an epoch; empty if the rate does
  /// not scale with the ranks. Throws `TrainingException.Unfit` if the warm-up is too long.
  Optional<LearningRateWarmup> warmup(int stepsPerEpoch) {
    return scaling.map(how -> how.of(this, stepsPerEpoch));
  }

  /// Returns the passes in which a rank computes the gradient of a step.
  public int passes() {
    return exchange instanceof GradientExchange.Averaged by ? by.passes() : 1;
  }

  /// Returns the largest norm of a gradient; infinite without clipping.
  public double largestNorm() {
    return exchange instanceof GradientExchange.Averaged by
        ? by.largestNorm()
        : Double.POSITIVE_INFINITY;
  }

  /// Returns the number of steps of a whole training without a limit of time.
  long steps(int stepsPerEpoch) {
    return limit.steps(epochs, stepsPerEpoch);
  }

  private TrainingSettings of(
      int size,
      Optional<WeightCheck> checks,
      GradientExchange gradients,
      Hidden layers,
      Shares parts,
      Limit limits,
      Optional<RateScaling> scaled) {
    return new TrainingSettings(
        workload,
        epochs,
        size,
        rate,
        optimizer,
        seed,
        sync,
        read,
        checkpoint,
        checks,
        gradients,
        layers,
        parts,
        limits,
        engine,
        scaled);
  }

  /// Builds the network for examples like these.
  public Model model(Examples like) {
    return Model.of(workload, hidden, like.features(), seed, like.scale());
  }

  /// Builds the network for examples like these on other tensors than its variables.
  public Model model(Examples like, Readings readings) {
    return Model.of(workload, hidden, like.features(), seed, like.scale(), readings);
  }

  /// Returns the description that a checkpoint of a run with these settings contains.
  ///
  /// @param dataset as the report names it
  /// @param epochs completed
  public Manifest manifest(String dataset, int epochs) {
    var facts = new LinkedHashMap<String, String>();
    facts.put("workload", workload.title());
    facts.put("dataset", dataset.replace('\n', ' '));
    facts.put("batch", Integer.toString(batch));
    facts.put("lr", Float.toString(rate));
    facts.put("optimizer", optimizer.toString());
    facts.put("seed", Long.toString(seed));
    facts.put("sync", sync.toString());
    if (!hidden.equals(Hidden.STANDARD)) {
      facts.put("hidden", hidden.toString());
    }
    if (largestNorm() < Double.POSITIVE_INFINITY) {
      facts.put("clip", Double.toString(largestNorm()));
    }
    scaling.ifPresent(how -> facts.put("scale-lr", how.ranks() + " ranks, " + how));
    return new Manifest(epochs, facts);
  }
}
