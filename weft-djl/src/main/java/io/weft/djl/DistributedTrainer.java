// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.TrainingResult;
import io.weft.Weft;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.Reducer;

/// A trainer whose step averages the gradients over all ranks before it updates the weights. Takes
/// the place of `Model.newTrainer`. All ranks must train equal blocks and take equally many steps.
/// Gradients are averaged in PyTorch's memory. Confined to one thread.
///
/// ```java
/// try (Trainer trainer = new DistributedTrainer(weft, model, config)) {
///   trainer.initialize(new Shape(1, 28 * 28)); // all ranks start from the weights of rank 0
///   EasyTrain.fit(trainer, epochs, training, test);
/// }
/// ```
///
/// `initialize`, `step`, `broadcast` and `averagedResult` throw `CommException` if a rank is lost,
/// late, or has other parameters.
public final class DistributedTrainer extends Trainer {

  private final ParameterExchange exchange;
  private final StepOptions options;
  private int passes;

  /// Creates a trainer that averages over all ranks of the job, with the job's data-parallel layer.
  public DistributedTrainer(Weft weft, Model model, TrainingConfig config) {
    this(weft, model, config, StepOptions.DEFAULT);
  }

  /// Creates a trainer that averages over all ranks of the job, with the job's data-parallel layer
  /// and options of a step.
  public DistributedTrainer(Weft weft, Model model, TrainingConfig config, StepOptions options) {
    this(DataParallel.of(weft).reducer(weft.communicator()), model, config, options);
  }

  /// Creates a trainer that averages over the ranks of a reducer, which the caller keeps open.
  /// Trainers on several threads must have reducers of different layers.
  public DistributedTrainer(Reducer reducer, Model model, TrainingConfig config) {
    this(reducer, model, config, StepOptions.DEFAULT);
  }

  /// Creates a trainer that averages over the ranks of a reducer, with options of a step.
  public DistributedTrainer(
      Reducer reducer, Model model, TrainingConfig config, StepOptions options) {
    super(model, config);
    this.options = options;
    this.exchange = new ParameterExchange(reducer, model, options);
    ConfiguredInitializers.set(model, config);
  }

  /// Initializes the model, and sets all parameters to those of rank 0. Collective.
  @Override
  public void initialize(Shape... shapes) {
    super.initialize(shapes);
    exchange.broadcast(0);
  }

  /// Averages the gradients and updates the weights. Collective. If it throws, gradients may have
  /// changed, but no weights. With several passes only every N-th call does so. The other calls
  /// return at once, and PyTorch adds the gradients of the next backward pass to those it has.
  @Override
  public void step() {
    step(options.largestNorm());
  }

  /// Takes a step with another largest norm than that of the options, equal on all ranks.
  public void step(double largestNorm) {
    passes++;
    if (passes < options.passes()) {
      return;
    }
    passes = 0;
    exchange.averageGradients(largestNorm);
    super.step();
  }

  /// Sets all parameters to those of rank `root`. Collective. Serves after a load on one rank, and
  /// before a model is saved, because running means of `BatchNorm` differ between ranks.
  public void broadcast(int root) {
    exchange.broadcast(root);
  }

  /// Returns the result of the training with evaluations that are averaged over the ranks.
  /// Collective.
  public TrainingResult averagedResult() {
    TrainingResult result = getTrainingResult();
    if (result.getEvaluations() != null) {
      exchange.average(result.getEvaluations());
    }
    return result;
  }

  /// Returns a fingerprint of all parameters on this rank, by which ranks can be compared.
  public String digest() {
    return exchange.digest();
  }
}
