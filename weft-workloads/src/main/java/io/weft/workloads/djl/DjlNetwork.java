// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.Reducer;
import io.weft.djl.DistributedTrainer;
import io.weft.djl.PyTorch;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.RankNetwork;
import io.weft.workloads.training.TrainingException;
import io.weft.workloads.training.TrainingJob;
import io.weft.workloads.training.TrainingSettings;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalLong;
import java.util.function.Supplier;

/// A network whose copy on each rank DJL computes with PyTorch. Confined to one thread.
public final class DjlNetwork implements RankNetwork {

  private static final float MOMENTUM_FACTOR = 0.9f;
  private static final String THREADS = "ai.djl.pytorch.num_threads";
  private static final String INTEROP_THREADS = "ai.djl.pytorch.num_interop_threads";
  private static final String OFFLINE = "ai.djl.offline";

  private final Workload workload;
  private final Examples examples;
  private final int width;
  private final Trained by;
  private final ByteBuffer features;
  private final ByteBuffer labels;

  /// A trainer of a model.
  ///
  /// @param digest returns a fingerprint of its weights
  /// @param submitted returns the time of its last submission to a data-parallel layer
  record Trained(Trainer trainer, Supplier<String> digest, Supplier<OptionalLong> submitted) {}

  /// Creates the network and initializes it. Collective, if the trainer's initialization is.
  ///
  /// @param mine the examples to train on
  /// @param width examples of a step
  /// @param by the trainer of a model of these settings; owned
  DjlNetwork(TrainingSettings settings, Examples mine, int width, Trained by) {
    this.workload = settings.workload();
    this.examples = mine;
    this.width = width;
    this.features = buffer(width * mine.features());
    this.labels = buffer(width * Long.BYTES);
    this.by = by;
    by.trainer.initialize(DjlBlocks.input(workload, width));
  }

  /// Returns a model with the layers of the workload. Loads PyTorch. Throws
  /// `TrainingException.NoEngine` if it does not load.
  ///
  /// @param threads that compute; without effect if PyTorch is loaded
  static Model model(TrainingSettings settings, int threads) {
    setDefault(THREADS, Integer.toString(threads));
    setDefault(INTEROP_THREADS, "1");
    setDefault(OFFLINE, "true");
    try {
      PyTorch.load().setRandomSeed((int) settings.seed());
    } catch (IllegalStateException e) {
      throw new TrainingException.NoEngine(String.valueOf(e.getMessage()), e);
    }
    Model model = Model.newInstance(settings.workload().title(), PyTorch.ENGINE);
    model.setBlock(DjlBlocks.of(settings.workload(), settings.hidden()));
    return model;
  }

  /// Returns the configuration of the trainer of such a model.
  static TrainingConfig config(TrainingSettings settings) {
    return new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
        .optDevices(new Device[] {Device.cpu()})
        .optOptimizer(optimizer(settings));
  }

  /// Creates the network of a rank, whose gradients all ranks average. Collective.
  public static RankNetwork averaged(
      TrainingSettings settings, Examples mine, int width, TrainingJob job) {
    Reducer reducer = DataParallel.of(job.weft()).reducer(job.weft().communicator());
    Model model = model(settings, job.threads());
    var trainer = new DistributedTrainer(reducer, model, config(settings));
    return new DjlNetwork(
        settings, mine, width, new Trained(trainer, trainer::digest, reducer::lastReductionNanos));
  }

  /// Throws `NoClassDefFoundError` if DJL is not on the class path.
  public static void requireLibrary() {
    var unused = DistributedTrainer.class.getName();
  }

  private static void setDefault(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  private static Optimizer optimizer(TrainingSettings settings) {
    Tracker rate = Tracker.fixed(settings.rate());
    return switch (settings.optimizer()) {
      case SGD -> Optimizer.sgd().setLearningRateTracker(rate).build();
      case MOMENTUM ->
          Optimizer.sgd().setLearningRateTracker(rate).optMomentum(MOMENTUM_FACTOR).build();
      case ADAM -> Optimizer.adam().optLearningRateTracker(rate).build();
      case ADAGRAD -> Optimizer.adagrad().optLearningRateTracker(rate).build();
    };
  }

  @Override
  public long parameters() {
    long count = 0;
    for (var each : by.trainer.getModel().getBlock().getParameters()) {
      count += each.getValue().getArray().size();
    }
    return count;
  }

  @Override
  public double step(int[] order, int from, float scale) {
    int bytes = examples.features();
    for (int i = 0; i < width; i++) {
      int row = order[from + i];
      features.put(i * bytes, examples.values(), row * bytes, bytes);
      labels.putLong(i * Long.BYTES, examples.labels()[row]);
    }
    Trainer trainer = by.trainer;
    float loss;
    try (NDManager manager = trainer.getManager().newSubManager()) {
      NDList x = batch(manager, features, width);
      NDList y = new NDList(manager.create(labels, new Shape(width), DataType.INT64));
      try (GradientCollector collector = trainer.newGradientCollector()) {
        NDList scores = trainer.forward(x);
        scores.attach(manager);
        NDArray mean = trainer.getLoss().evaluate(y, scores);
        mean.attach(manager);
        loss = mean.getFloat();
        NDArray scaled = mean.mul(scale * width);
        scaled.attach(manager);
        collector.backward(scaled);
      }
    }
    trainer.step();
    return (double) loss * width;
  }

  /// Returns rows of bytes as numbers.
  private NDList batch(NDManager manager, ByteBuffer bytes, int rows) {
    NDArray pixels = manager.create(bytes, DjlBlocks.input(workload, rows), DataType.UINT8);
    NDArray numbers = pixels.toType(DataType.FLOAT32, false);
    numbers.attach(manager);
    return new NDList(numbers.muli(examples.scale()));
  }

  @Override
  public OptionalLong submittedNanos() {
    return by.submitted.get();
  }

  @Override
  public Evaluation evaluate(Examples tested) throws InterruptedException {
    return Evaluation.of(
        tested,
        (first, size, scores) -> {
          int bytes = tested.features();
          ByteBuffer pixels = buffer(size * bytes);
          pixels.put(0, tested.values(), first * bytes, size * bytes);
          try (NDManager manager = by.trainer.getManager().newSubManager()) {
            NDList found = by.trainer.evaluate(batch(manager, pixels, size));
            found.attach(manager);
            NDArray classes = found.singletonOrThrow().argMax(1);
            classes.attach(manager);
            long[] guesses = classes.toLongArray();
            int correct = 0;
            for (int i = 0; i < size; i++) {
              correct += guesses[i] == tested.labels()[first + i] ? 1 : 0;
            }
            return correct;
          }
        });
  }

  @Override
  public String digest() {
    return by.digest.get();
  }

  @Override
  public void close() {
    by.trainer.close();
    by.trainer.getModel().close();
  }
}
