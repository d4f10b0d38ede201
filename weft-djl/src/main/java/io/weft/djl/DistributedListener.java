// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.training.Trainer;
import ai.djl.training.listener.TrainingListener;
import io.weft.Weft;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.Reducer;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A listener that makes the training of unchanged `EasyTrain` code distributed: after each
/// backward pass, and before the step, it averages the gradients over all ranks, in PyTorch's
/// memory. All ranks must train equal blocks on equally many batches.
///
/// ```java
/// config.addTrainingListeners(TrainingListener.Defaults.logging()); // first
/// config.addTrainingListeners(new DistributedListener(weft));
/// ```
///
/// DJL does not notify listeners between the initialization of weights and the first batch. If the
/// ranks have different weights at their first batch, all take the weights and the first gradients
/// of rank 0. At the end of an epoch the evaluations of `Trainer.getTrainingResult` are averaged,
/// provided that DJL's `EvaluatorTrainingListener` was added before. Serves one trainer at a time,
/// on its thread. The methods throw `CommException` if a rank is lost, late, or has other
/// parameters.
public final class DistributedListener implements TrainingListener {

  private final Reducer reducer;
  private final StepOptions options;
  private @Nullable ParameterExchange exchange;

  /// Creates a listener that averages over all ranks of the job, with the job's data-parallel
  /// layer.
  public DistributedListener(Weft weft) {
    this(weft, StepOptions.DEFAULT);
  }

  /// Creates a listener that averages over all ranks of the job, with options of a step. Throws
  /// `IllegalArgumentException` for more than one pass, because DJL updates the weights after each
  /// batch; a `DistributedTrainer` accumulates.
  public DistributedListener(Weft weft, StepOptions options) {
    this(DataParallel.of(weft).reducer(weft.communicator()), options);
  }

  /// Creates a listener that averages over the ranks of a reducer, which the caller keeps open.
  public DistributedListener(Reducer reducer) {
    this(reducer, StepOptions.DEFAULT);
  }

  /// Creates a listener that averages over the ranks of a reducer, with options of a step. Throws
  /// `IllegalArgumentException` for more than one pass.
  public DistributedListener(Reducer reducer, StepOptions options) {
    if (options.passes() > 1) {
      throw new IllegalArgumentException(
          "a listener cannot accumulate %d passes, because DJL updates the weights after each batch; use a DistributedTrainer"
              .formatted(options.passes()));
    }
    this.reducer = Objects.requireNonNull(reducer, "reducer");
    this.options = options;
  }

  @Override
  public void onTrainingBegin(Trainer trainer) {
    exchange = null;
  }

  @Override
  public void onTrainingBatch(Trainer trainer, BatchData batch) {
    if (exchange == null) {
      exchange = new ParameterExchange(reducer, trainer.getModel(), options);
      exchange.averageFirstGradients();
    } else {
      exchange.averageGradients(options.largestNorm());
    }
  }

  @Override
  public void onValidationBatch(Trainer trainer, BatchData batch) {}

  @Override
  public void onEpoch(Trainer trainer) {
    Map<String, Float> evaluations = trainer.getTrainingResult().getEvaluations();
    if (exchange != null && evaluations != null) {
      exchange.average(evaluations);
    }
  }

  @Override
  public void onTrainingEnd(Trainer trainer) {
    exchange = null;
  }
}
