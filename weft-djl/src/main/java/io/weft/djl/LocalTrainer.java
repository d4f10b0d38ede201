// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import io.weft.collective.Communicator;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.local.LocalSgd;
import io.weft.dataparallel.local.LocalSgdOptions;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A trainer of local SGD: each rank trains its own weights, and every H steps the ranks average
/// the changes of all trained weights, in PyTorch's memory. All ranks must train equal blocks and
/// take equally many steps. Confined to one thread.
///
/// ```java
/// var options = LocalSgdOptions.every(20);
/// try (var trainer = new LocalTrainer(weft.communicator(), options, model, config)) {
///   trainer.initialize(new Shape(1, 28 * 28)); // all ranks start from the weights of rank 0
///   EasyTrain.fit(trainer, epochs, mine, test);
///   trainer.synchronize(); // all ranks have equal weights
/// }
/// ```
///
/// `initialize`, `step` and `synchronize` throw `CommException` if a rank is lost, late, or has
/// other parameters.
public final class LocalTrainer extends Trainer {

  private final Communicator communicator;
  private final LocalSgdOptions options;
  private final ParameterExchange exchange;
  private @Nullable LocalSgd local;

  /// Creates a trainer on the ranks of a communicator, which the caller keeps open. A single rank
  /// trains without exchanges.
  public LocalTrainer(
      Communicator communicator, LocalSgdOptions options, Model model, TrainingConfig config) {
    super(model, config);
    this.communicator = Objects.requireNonNull(communicator, "communicator");
    this.options = Objects.requireNonNull(options, "options");
    this.exchange = new ParameterExchange(Reducer.direct(communicator), model);
    ConfiguredInitializers.set(model, config);
  }

  /// Initializes the model, and sets all parameters to those of rank 0. Collective. Throws
  /// `IllegalArgumentException` if a trained parameter is not FLOAT32.
  @Override
  public void initialize(Shape... shapes) {
    super.initialize(shapes);
    exchange.broadcast(0);
    if (communicator.size() > 1) {
      local = new LocalSgd(communicator, options, exchange.trainedWeights());
    }
  }

  /// Updates this rank's weights, and exchanges their changes if that is due.
  @Override
  public void step() {
    super.step();
    if (local != null) {
      LocalSgd of = local;
      uninterrupted(of::step);
    }
  }

  /// Makes the weights of all ranks equal. Collective. Serves before an evaluation and before the
  /// model is saved.
  public void synchronize() {
    if (local != null) {
      LocalSgd of = local;
      uninterrupted(of::synchronize);
    }
  }

  /// Returns the number of times that the outer optimizer has changed the weights.
  public long outerSteps() {
    return local == null ? 0 : local.outerSteps();
  }

  /// Returns a fingerprint of all parameters on this rank, by which ranks can be compared.
  public String digest() {
    return exchange.digest();
  }

  private interface Exchange {
    void run() throws InterruptedException;
  }

  private static void uninterrupted(Exchange exchange) {
    try {
      exchange.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks exchange their weights", e);
    }
  }
}
