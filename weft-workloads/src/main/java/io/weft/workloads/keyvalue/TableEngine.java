// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.kv.KvWorker;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.parameterserver.ServedTraining;
import io.weft.workloads.parameterserver.WorkerShard;
import io.weft.workloads.parameterserver.WorkerSteps;
import io.weft.workloads.training.TrainingEngine;
import io.weft.workloads.training.TrainingObserver;
import java.util.Optional;
import java.util.OptionalLong;

/// A worker's part of a model whose weights are in tables of a parameter server. Confined to one
/// thread.
final class TableEngine implements TrainingEngine, AutoCloseable {

  private final KvWorker store;
  private final WorkerShard shard;
  private final WorkerModel model;
  private final WorkerSteps steps;
  private int[] order = {};
  private int epoch;

  /// Registers the tables. Every worker must create its engine. Borrows the store.
  TableEngine(
      ServedTraining training, WorkerModel.Factory models, KvWorker store, WorkerShard shard)
      throws InterruptedException {
    this.store = store;
    this.shard = shard;
    this.model = models.model(training, store, shard.examples(), shard.share().width());
    this.steps = new WorkerSteps(training.settings(), shard);
  }

  WorkerModel model() {
    return model;
  }

  WorkerSteps steps() {
    return steps;
  }

  @Override
  public long parameters() {
    return model.parameters();
  }

  /// Returns the first step, because the tables have initial weights and no checkpoints.
  @Override
  public Position restore() {
    return Position.FIRST;
  }

  @Override
  public void begin() throws InterruptedException {
    store.barrier();
  }

  @Override
  public boolean beginEpoch(int number) {
    epoch = number;
    order = shard.share().orders(number)[0];
    return true;
  }

  /// Takes a step. One step of each worker moves the model as far as one step of a single process.
  @Override
  public Step step(int step, float rate) throws InterruptedException {
    int number = epoch * shard.columns().steps() + step;
    OptionalLong exposed = model.exposedNanos();
    long begin = System.nanoTime();
    double loss = model.step(order, step * shard.share().width(), rate / shard.columns().batch());
    long taken = System.nanoTime() - begin;
    if (exposed.isPresent()) {
      steps.exposed(model.exposedNanos().orElseThrow() - exposed.getAsLong());
    }
    return steps.took(number, loss, taken, number + 1);
  }

  @Override
  public Optional<TrainingObserver.TrainedEpoch> endEpoch() {
    return steps.epoch(epoch);
  }

  @Override
  public void save() {}

  @Override
  public void finish() throws InterruptedException {
    model.flush();
  }

  @Override
  public Evaluation evaluate(Examples examples) throws InterruptedException {
    return model.evaluate(examples);
  }

  @Override
  public String digest() {
    return model.digest();
  }

  @Override
  public Optional<String> sample() {
    return model.sample();
  }

  @Override
  public void close() {
    model.close();
  }
}
