// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.util.Pair;
import io.weft.agent.Ticker;
import io.weft.dataparallel.Reducer;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.Consistency;

/// A trainer whose weights are on parameter servers, which also update them: a step pushes the
/// gradients and pulls the new weights, in PyTorch's memory. The optimizer of the configuration is
/// not used. All workers must train equal blocks. Confined to one thread.
///
/// ```java
/// try (KvNode kv = KvNode.open(weft, KvOptions.servers(1))) {
///   if (kv.serve()) {
///     return; // a server whose workers have left
///   }
///   var consistency = Consistency.synchronous();
///   try (Trainer trainer =
///       new ServedTrainer(kv.worker(), "momentum:lr=0.05", consistency, model, config)) {
///     trainer.initialize(new Shape(1, 28 * 28));
///     EasyTrain.fit(trainer, epochs, training, test);
///   }
/// }
/// ```
///
/// `initialize` and `step` throw `CommException` if a server or a needed worker is lost or late, or
/// if a worker has other parameters.
public final class ServedTrainer extends Trainer {

  private final ParameterExchange exchange;
  private final WeftParameterServer server;
  private long exposedNanos;

  /// Creates a worker's trainer.
  ///
  /// @param rule of the servers' updates, such as `sgd:lr=0.1`
  /// @param consistency of the weights
  public ServedTrainer(
      KvWorker worker, String rule, Consistency consistency, Model model, TrainingConfig config) {
    super(model, config);
    ConfiguredInitializers.set(model, config);
    this.exchange = new ParameterExchange(Reducer.direct(worker.workers()), model);
    this.server = new WeftParameterServer(worker, model.getBlock(), rule, consistency);
  }

  /// Initializes the model, and sets all parameters to those of the lowest worker. Collective.
  @Override
  public void initialize(Shape... shapes) {
    super.initialize(shapes);
    exchange.broadcast(0);
    for (Pair<String, Parameter> each : getModel().getBlock().getParameters()) {
      if (each.getValue().requiresGradient()) {
        server.init(each.getValue().getId(), new NDArray[] {each.getValue().getArray()});
      }
    }
  }

  /// Pushes the gradients and pulls the weights. With a synchronous consistency all workers take
  /// each step together.
  @Override
  public void step() {
    exchange.requireGradients();
    long begun = Ticker.SYSTEM.nanos();
    for (Pair<String, Parameter> each : getModel().getBlock().getParameters()) {
      Parameter parameter = each.getValue();
      if (parameter.requiresGradient()) {
        NDArray weights = parameter.getArray();
        try (NDArray gradient = weights.getGradient()) {
          server.update(parameter.getId(), new NDArray[] {gradient}, new NDArray[] {weights});
        }
      }
    }
    server.await();
    exposedNanos += Ticker.SYSTEM.nanos() - begun;
  }

  /// Returns the time of all pushes and pulls of `step`. PyTorch computes nothing meanwhile.
  public long exposedNanos() {
    return exposedNanos;
  }

  /// Sets the weights to those of the servers, which may be newer if the consistency is not
  /// synchronous.
  public void pull() {
    server.pull();
  }

  /// Returns a fingerprint of all parameters on this worker.
  public String digest() {
    return exchange.digest();
  }
}
