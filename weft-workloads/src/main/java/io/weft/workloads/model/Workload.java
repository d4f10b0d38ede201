// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import io.weft.workloads.census.CensusFiles;
import io.weft.workloads.census.SyntheticCensus;
import io.weft.workloads.clicks.CriteoFiles;
import io.weft.workloads.clicks.SyntheticClicks;
import io.weft.workloads.collisions.HiggsFiles;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Floats;
import io.weft.workloads.data.MnistFiles;
import io.weft.workloads.data.SyntheticNumbers;
import io.weft.workloads.digits.SyntheticDigits;
import io.weft.workloads.pictures.CifarFiles;
import io.weft.workloads.pictures.SyntheticPictures;
import io.weft.workloads.text.Characters;
import io.weft.workloads.text.DrawnSentences;
import io.weft.workloads.text.TextFiles;
import io.weft.workloads.vehicles.AcousticFiles;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/// A network with its data and with settings that train it well [VIS16 table 1].
public enum Workload {
  /// A network of 784-200-100-10 units for digits.
  MNIST_DNN("mnist-dnn", "digits, 784-200-100-10", 784, 10, 8, 0.05f),
  /// A network for digits: 32 and 64 convolutions of 5x5, each with pooling, then 1024 units.
  MNIST_CNN("mnist-cnn", "digits, conv 5x5x32, conv 5x5x64, 1024-10", 784, 10, 2, 0.02f),
  /// A network of 3072-200-100-10 units for small pictures in three colours.
  CIFAR10_DNN("cifar10-dnn", "small pictures, 3072-200-100-10", 3072, 10, 10, 0.01f),
  /// A network for small pictures: 32 and 64 convolutions of 5x5 with pooling, then 1024 units.
  CIFAR10_CNN(
      "cifar10-cnn", "small pictures, conv 5x5x32, conv 5x5x64, 1024-10", 3072, 10, 5, 0.01f),
  /// A network of 123-200-100-2 units for census data.
  ADULT_DNN("adult-dnn", "census income, 123-200-100-2", 123, 2, 5, 0.02f),
  /// A network of 50-200-100-3 units for sounds of vehicles, in numbers.
  ACOUSTIC_DNN("acoustic-dnn", "sounds of vehicles, 50-200-100-3", 50 * Floats.BYTES, 3, 4, 0.02f),
  /// A network of 28-1024-2 units for collisions of particles, in numbers.
  HIGGS_DNN("higgs-dnn", "collisions of particles, 28-1024-2", 28 * Floats.BYTES, 2, 3, 0.01f),
  /// A network of five convolutions, three dense layers and 50 million weights for random pixels of
  /// 224x224 in three colours, with 24 images in a step [JIA17 §4]. It measures the speed of steps
  /// because random pixels teach a network nothing.
  ALEXNET("alexnet", "random pixels, AlexNet, 50 million weights", 3 * 224 * 224, 1000, 1, 0.001f),
  /// A wide and deep network for clicks in 200 columns of 500 categories, evaluated by the area
  /// under the curve (AUC): the probability that a click has a higher score than no click.
  WIDE_DEEP("wide-deep", "clicks, wide and deep over 200 columns", 400, 2, 3, 0.05f),
  /// A language model of characters: a decoder of four layers of width 256 and 3 million weights.
  TINY_GPT(
      "tiny-gpt", "text, a decoder of 4 layers, 3 million weights", 64, Characters.COUNT, 1, 0.01f);

  private final String title;
  private final String summary;
  private final int features;
  private final int classes;
  private final int epochs;
  private final float momentumRate;

  Workload(
      String title, String summary, int features, int classes, int epochs, float momentumRate) {
    this.title = title;
    this.summary = summary;
    this.features = features;
    this.classes = classes;
    this.epochs = epochs;
    this.momentumRate = momentumRate;
  }

  /// Returns the workload with this name; empty if none has it.
  public static Optional<Workload> named(String title) {
    return Arrays.stream(values()).filter(w -> w.title.equals(title)).findFirst();
  }

  /// Returns all names, for messages.
  public static String names() {
    return Arrays.stream(values()).map(Workload::title).collect(Collectors.joining(", "));
  }

  /// Returns the name on the command line.
  public String title() {
    return title;
  }

  /// Returns a description of one line.
  public String summary() {
    return summary;
  }

  /// Returns the number of bytes in an example of the embedded data.
  public int features() {
    return features;
  }

  /// Returns whether the ranking by score is evaluated too: classes are 0 and 1, and few are 1.
  public boolean isRanked() {
    return this == WIDE_DEEP;
  }

  /// Returns the engine that computes the network without `--engine`.
  public EngineKind defaultEngine() {
    return this == TINY_GPT ? EngineKind.DJL : EngineKind.TENSORFLOW;
  }

  /// Returns whether an engine can compute the network.
  public boolean isComputedBy(EngineKind engine) {
    return switch (engine) {
      case TENSORFLOW -> this != TINY_GPT;
      case DJL -> this == TINY_GPT || isEnlargeable();
    };
  }

  /// Returns the optimizer without `--optimizer`.
  public OptimizerKind defaultOptimizer() {
    return this == TINY_GPT ? OptimizerKind.ADAM : OptimizerKind.MOMENTUM;
  }

  /// Returns whether its hidden layers can be enlarged.
  public boolean isEnlargeable() {
    return switch (this) {
      case MNIST_DNN, MNIST_CNN, CIFAR10_DNN, CIFAR10_CNN -> true;
      case ADULT_DNN, ACOUSTIC_DNN, HIGGS_DNN, ALEXNET, WIDE_DEEP, TINY_GPT -> false;
    };
  }

  /// Returns whether the activation and dropout of its hidden layers can be chosen.
  public boolean isFullyConnected() {
    return switch (this) {
      case MNIST_DNN, MNIST_CNN, CIFAR10_DNN, CIFAR10_CNN, ADULT_DNN, ACOUSTIC_DNN, HIGGS_DNN ->
          true;
      case ALEXNET, WIDE_DEEP, TINY_GPT -> false;
    };
  }

  /// Returns the width of its output.
  public int classes() {
    return classes;
  }

  /// Returns the number of epochs after which the network reaches its accuracy.
  public int defaultEpochs() {
    return epochs;
  }

  /// Returns the number of examples in a step, over all ranks.
  public int defaultBatch() {
    return switch (this) {
      case ALEXNET -> 24;
      case TINY_GPT -> 16;
      case MNIST_DNN,
          MNIST_CNN,
          CIFAR10_DNN,
          CIFAR10_CNN,
          ADULT_DNN,
          ACOUSTIC_DNN,
          HIGGS_DNN,
          WIDE_DEEP ->
          128;
    };
  }

  /// Returns a learning rate that suits the optimizer.
  public float defaultRate(OptimizerKind optimizer) {
    return switch (optimizer) {
      case SGD -> 5 * momentumRate;
      case MOMENTUM -> momentumRate;
      case ADAM -> 0.001f;
      case ADAGRAD -> 0.02f;
    };
  }

  /// Returns the published files in a directory; empty if this workload has none.
  public Optional<DataSource> files(Path directory) {
    return switch (this) {
      case MNIST_DNN, MNIST_CNN -> Optional.of(new MnistFiles(directory));
      case CIFAR10_DNN, CIFAR10_CNN -> Optional.of(new CifarFiles(directory));
      case ADULT_DNN -> Optional.of(new CensusFiles(directory));
      case ACOUSTIC_DNN -> Optional.of(new AcousticFiles(directory));
      case HIGGS_DNN -> Optional.of(new HiggsFiles(directory));
      case ALEXNET -> Optional.empty();
      case WIDE_DEEP -> Optional.of(new CriteoFiles(directory));
      case TINY_GPT -> Optional.of(new TextFiles(directory, features));
    };
  }

  /// Returns the data for training without files.
  public DataSource embedded(long seed) {
    return switch (this) {
      case MNIST_DNN, MNIST_CNN -> SyntheticDigits.standard(seed);
      case CIFAR10_DNN, CIFAR10_CNN -> SyntheticPictures.standard(seed);
      case ADULT_DNN -> new SyntheticCensus(seed);
      case ACOUSTIC_DNN ->
          new SyntheticNumbers("synthetic sounds", "sounds", 50, classes, 20_000, 4_000, seed);
      case HIGGS_DNN ->
          new SyntheticNumbers(
              "synthetic collisions", "collisions", 28, classes, 20_000, 4_000, seed);
      case ALEXNET -> new RandomPixels(features, seed);
      case WIDE_DEEP -> SyntheticClicks.standard(seed);
      case TINY_GPT -> new DrawnSentences(features, seed);
    };
  }
}
