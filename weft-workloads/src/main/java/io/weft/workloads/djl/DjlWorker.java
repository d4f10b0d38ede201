// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import io.weft.djl.ServedTrainer;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.TableCounts;
import io.weft.workloads.data.Examples;
import io.weft.workloads.keyvalue.TableSettings;
import io.weft.workloads.keyvalue.WorkerModel;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.parameterserver.ServedTraining;
import java.util.Optional;
import java.util.OptionalLong;

/// A worker's network of DJL, whose weights are dense tensors on servers. Confined to one thread.
public final class DjlWorker implements WorkerModel {

  private final KvWorker store;
  private final ServedTrainer trainer;
  private final DjlNetwork network;

  /// Registers the tensors and initializes them. Every worker must create the model.
  ///
  /// @param mine the worker's examples
  /// @param width examples of a step
  public DjlWorker(ServedTraining training, KvWorker store, Examples mine, int width) {
    TableSettings with = TableSettings.of(training.settings());
    this.store = store;
    this.trainer =
        new ServedTrainer(
            store,
            with.rule(),
            with.consistency(),
            DjlNetwork.model(training.settings(), training.threads()),
            DjlNetwork.config(training.settings()));
    this.network =
        new DjlNetwork(
            training.settings(),
            mine,
            width,
            new DjlNetwork.Trained(
                trainer,
                _ -> trainer.step(),
                trainer::digest,
                OptionalLong::empty,
                Optional.empty()));
  }

  @Override
  public long parameters() {
    return network.parameters();
  }

  /// Takes a step. The trainer divides gradients by the number of workers, whose pushes the servers
  /// add.
  @Override
  public double step(int[] order, int from, float scale) {
    return network.step(order, from, scale * store.workers().size());
  }

  /// Does nothing, because a step completes with its pushes.
  @Override
  public void flush() {}

  @Override
  public TableCounts counts() {
    return store.counts();
  }

  @Override
  public OptionalLong exposedNanos() {
    return OptionalLong.of(trainer.exposedNanos());
  }

  @Override
  public void finish() {
    trainer.pull();
  }

  @Override
  public Evaluation evaluate(Examples examples) throws InterruptedException {
    return network.evaluate(examples);
  }

  @Override
  public String digest() {
    return network.digest();
  }

  @Override
  public Optional<String> sample() {
    return network.sample();
  }

  @Override
  public void close() {
    network.close();
  }
}
