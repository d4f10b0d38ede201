// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.initializer.NormalInitializer;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import com.sun.management.OperatingSystemMXBean;
import io.weft.Weft;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.Reducer;
import io.weft.djl.DistributedTrainer;
import io.weft.djl.LocalTrainer;
import io.weft.djl.PyTorch;
import io.weft.djl.StepOptions;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.RankNetwork;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingException;
import io.weft.workloads.training.TrainingJob;
import io.weft.workloads.training.TrainingSettings;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.DoubleConsumer;
import java.util.function.Supplier;

/// A network whose copy on each rank DJL computes with PyTorch. Confined to one thread.
public final class DjlNetwork implements RankNetwork {

  private static final float MOMENTUM_FACTOR = 0.9f;

  /// The standard deviation of the initial weights of the language model.
  private static final float GPT_DEVIATION = 0.02f;

  private static final String THREADS = "ai.djl.pytorch.num_threads";
  private static final String INTEROP_THREADS = "ai.djl.pytorch.num_interop_threads";
  private static final String OFFLINE = "ai.djl.offline";

  private final BatchForm form;
  private final Examples examples;
  private final int width;
  private final int passes;
  private final Trained by;
  private final ByteBuffer features;
  private final ByteBuffer targets;
  private final long seed;

  /// A trainer of a model.
  ///
  /// @param step ends a pass, and takes the step after the last one; its argument is the factor of
  ///   the gradients
  /// @param digest returns a fingerprint of its weights
  /// @param submitted returns the time of its last submission to a data-parallel layer
  /// @param local the trainer if it is one of local SGD
  record Trained(
      Trainer trainer,
      DoubleConsumer step,
      Supplier<String> digest,
      Supplier<OptionalLong> submitted,
      Optional<LocalTrainer> local) {}

  /// Creates the network and initializes it. Collective, if the trainer's initialization is. Throws
  /// `TrainingException.Unfit` if a step needs more memory than the host has.
  ///
  /// @param mine the examples to train on
  /// @param width examples of a step
  /// @param by the trainer of a model of these settings; owned
  DjlNetwork(TrainingSettings settings, Examples mine, int width, Trained by) {
    this.form = BatchForm.of(settings.workload(), mine);
    this.examples = mine;
    this.width = width;
    this.passes = settings.passes();
    int atOnce = Math.ceilDiv(width, passes);
    requireMemory(form.stepBytes(atOnce), atOnce);
    this.features = buffer(atOnce * mine.features());
    this.targets = buffer(atOnce * form.targets() * Long.BYTES);
    this.by = by;
    this.seed = settings.seed();
    by.trainer.initialize(form.shape(width));
  }

  /// Throws `TrainingException.Unfit` if the host has less memory than a step needs.
  static void requireMemory(long needed, int rows) {
    long present =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
    if (needed > present) {
      throw new TrainingException.Unfit(
          "a step of %d examples on a rank needs about %d MiB, but this host has %d MiB; give a smaller --batch or --context"
              .formatted(rows, needed >> 20, present >> 20));
    }
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
    var config =
        new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
            .optDevices(new Device[] {Device.cpu()})
            .optOptimizer(optimizer(settings));
    return settings.workload() == Workload.TINY_GPT
        ? config.optInitializer(new NormalInitializer(GPT_DEVIATION), Parameter.Type.WEIGHT)
        : config;
  }

  /// Creates the network of a rank, whose gradients all ranks average, or whose weights with local
  /// SGD. Collective.
  public static RankNetwork of(
      TrainingSettings settings, Examples mine, int width, TrainingJob job) {
    Model model = model(settings, job.threads());
    return new DjlNetwork(settings, mine, width, trained(settings, model, job.weft()));
  }

  private static Trained trained(TrainingSettings settings, Model model, Weft weft) {
    if (settings.sync() instanceof Sync.Local how) {
      var local = new LocalTrainer(weft.communicator(), how.options(), model, config(settings));
      return new Trained(
          local, _ -> local.step(), local::digest, OptionalLong::empty, Optional.of(local));
    }
    Reducer reducer = DataParallel.of(weft).reducer(weft.communicator());
    StepOptions options =
        StepOptions.DEFAULT.accumulated(settings.passes()).clipped(settings.largestNorm());
    var trainer = new DistributedTrainer(reducer, model, config(settings), options);
    // The gradients have the factor ranks / batch and that of the learning rate, by which only the
    // second multiplies the norm.
    double norm = settings.largestNorm() * settings.batch() / weft.size();
    return new Trained(
        trainer,
        factor -> trainer.step(norm * factor),
        trainer::digest,
        reducer::lastReductionNanos,
        Optional.empty());
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

  /// Takes a step. Throws `TrainingException.Unfit` if PyTorch cannot compute it.
  @Override
  public double step(int[] order, int from, float scale) {
    try {
      double loss = 0;
      for (int pass = 0; pass < passes; pass++) {
        int first = (int) ((long) width * pass / passes);
        int rows = (int) ((long) width * (pass + 1) / passes) - first;
        loss += backward(order, from + first, rows, scale * passes);
        by.step.accept(scale);
      }
      return loss;
    } catch (EngineException e) {
      throw new TrainingException.Unfit(
          "PyTorch cannot compute a step of %d examples (%s); if it lacks memory, give a smaller --batch"
              .formatted(width, String.valueOf(e.getMessage()).lines().findFirst().orElse("")));
    }
  }

  /// Computes the gradients of some examples. Returns their loss. The trainer takes the mean of all
  /// passes.
  private double backward(int[] order, int from, int rows, float scale) {
    int bytes = examples.features();
    LongBuffer classes = targets.asLongBuffer();
    for (int i = 0; i < rows; i++) {
      int row = order[from + i];
      features.put(i * bytes, examples.values(), row * bytes, bytes);
      form.addTargets(examples, row, classes);
    }
    Trainer trainer = by.trainer;
    float loss;
    try (NDManager manager = trainer.getManager().newSubManager()) {
      NDList x = new NDList(form.input(manager, features.slice(0, rows * bytes), rows));
      Shape all = new Shape((long) rows * form.targets());
      ByteBuffer used = targets.slice(0, rows * form.targets() * Long.BYTES);
      NDList y = new NDList(manager.create(used.order(targets.order()), all, DataType.INT64));
      try (GradientCollector collector = trainer.newGradientCollector()) {
        NDList scores = trainer.forward(x);
        scores.attach(manager);
        NDArray mean = trainer.getLoss().evaluate(y, scores);
        mean.attach(manager);
        loss = mean.getFloat();
        NDArray scaled = mean.mul(manager.create(scale * rows));
        scaled.attach(manager);
        collector.backward(scaled);
      }
    }
    return (double) loss * rows;
  }

  @Override
  public void synchronize() {
    by.local.ifPresent(LocalTrainer::synchronize);
  }

  @Override
  public OptionalLong outerSteps() {
    return by.local.map(local -> OptionalLong.of(local.outerSteps())).orElse(OptionalLong.empty());
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
          int correct = 0;
          int each = Math.min(size, form.rowsAtOnce());
          for (int at = first; at < first + size; at += each) {
            correct += correct(tested, at, Math.min(each, first + size - at));
          }
          return correct;
        });
  }

  private int correct(Examples tested, int first, int rows) {
    int bytes = tested.features();
    ByteBuffer values = buffer(rows * bytes);
    values.put(0, tested.values(), first * bytes, rows * bytes);
    try (NDManager manager = by.trainer.getManager().newSubManager()) {
      NDArray found = scores(manager, values, rows);
      NDArray classes = form.ofLabels(found, rows).argMax(1);
      classes.attach(manager);
      long[] guesses = classes.toLongArray();
      int correct = 0;
      for (int i = 0; i < rows; i++) {
        correct += guesses[i] == tested.labels()[first + i] ? 1 : 0;
      }
      return correct;
    }
  }

  private NDArray scores(NDManager manager, ByteBuffer bytes, int rows) {
    NDList found = by.trainer.evaluate(new NDList(form.input(manager, bytes, rows)));
    found.attach(manager);
    return found.singletonOrThrow();
  }

  @Override
  public Optional<String> sample() {
    return form instanceof BatchForm.Text text
        ? Optional.of(new GptSample(text.context(), this::scores).line(seed))
        : Optional.empty();
  }

  /// Returns the scores of all characters that may follow each character of a text of one row.
  private float[] scores(byte[] text) {
    ByteBuffer bytes = buffer(text.length).put(0, text);
    try (NDManager manager = by.trainer.getManager().newSubManager()) {
      return scores(manager, bytes, 1).toFloatArray();
    }
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
