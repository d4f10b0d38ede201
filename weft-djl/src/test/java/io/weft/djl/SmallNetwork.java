// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.initializer.Initializer;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.util.Pair;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/// A network of 6-5-3 units, and examples that are functions of their index. Ranks of one process
/// compute in turn, because DJL collects the gradients of one thread at a time.
final class SmallNetwork {

  static final int FEATURES = 6;
  static final int HIDDEN = 5;
  static final float RATE = 0.1f;

  private static final int CLASSES = 3;
  private static final ReentrantLock COLLECTING = new ReentrantLock();

  private SmallNetwork() {}

  static Model model(int hidden) {
    Model model = Model.newInstance("small", "PyTorch");
    model.setBlock(
        new SequentialBlock()
            .add(Linear.builder().setUnits(hidden).build())
            .add(Activation::relu)
            .add(Linear.builder().setUnits(CLASSES).build()));
    return model;
  }

  /// Returns settings with initial weights that depend on their index alone.
  ///
  /// @param scale of the initial weights
  static DefaultTrainingConfig config(float scale) {
    Initializer weights =
        (manager, shape, type) -> {
          try (NDArray index = manager.arange((float) shape.size())) {
            return index.mul(0.7f).sin().mul(scale).reshape(shape);
          }
        };
    return new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
        .optInitializer(weights, Parameter.Type.WEIGHT)
        .optDevices(new Device[] {Device.cpu()})
        .optOptimizer(
            Optimizer.sgd().setLearningRateTracker(Tracker.fixed(RATE)).optMomentum(0.9f).build());
  }

  static float[] features(int first, int rows) {
    float[] values = new float[rows * FEATURES];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) Math.cos(1.3 * (first * FEATURES + i));
    }
    return values;
  }

  static long[] labels(int first, int rows) {
    long[] labels = new long[rows];
    for (int i = 0; i < rows; i++) {
      labels[i] = Math.floorMod((first + i) * 7L, CLASSES);
    }
    return labels;
  }

  /// Takes a step on `rows` examples from example `first` on.
  static void step(Trainer trainer, int first, int rows) {
    try (NDManager manager = trainer.getManager().newSubManager()) {
      NDArray x = manager.create(features(first, rows), new Shape(rows, FEATURES));
      NDArray y = manager.create(labels(first, rows), new Shape(rows));
      try (GradientCollector collector = collector(trainer::newGradientCollector)) {
        NDList out = trainer.forward(new NDList(x));
        out.attach(manager);
        NDArray loss = trainer.getLoss().evaluate(new NDList(y), out);
        loss.attach(manager);
        collector.backward(loss);
      }
    }
    trainer.step();
  }

  /// Returns a collector after those of other threads are closed.
  static GradientCollector collector(Supplier<GradientCollector> maker) {
    COLLECTING.lock();
    GradientCollector inner = maker.get();
    return new GradientCollector() {
      @Override
      public void backward(NDArray target) {
        inner.backward(target);
      }

      @Override
      public void zeroGradients() {
        inner.zeroGradients();
      }

      @Override
      public void close() {
        inner.close();
        COLLECTING.unlock();
      }
    };
  }

  static Map<String, float[]> weights(Model model) {
    Map<String, float[]> weights = new TreeMap<>();
    for (Pair<String, Parameter> each : model.getBlock().getParameters()) {
      weights.put(each.getKey(), each.getValue().getArray().toFloatArray());
    }
    return weights;
  }

  /// Returns the weights of one process after `steps` steps of `rows` rows each.
  static Map<String, float[]> trainedAlone(int steps, int rows) {
    try (Model model = model(HIDDEN);
        Trainer trainer = model.newTrainer(config(1))) {
      trainer.initialize(new Shape(rows, FEATURES));
      for (int step = 0; step < steps; step++) {
        step(trainer, step * rows, rows);
      }
      return weights(model);
    }
  }
}
