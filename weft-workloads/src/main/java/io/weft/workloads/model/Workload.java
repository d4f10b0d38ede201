// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import io.weft.workloads.census.CensusFiles;
import io.weft.workloads.census.SyntheticCensus;
import io.weft.workloads.clicks.CriteoFiles;
import io.weft.workloads.clicks.SyntheticClicks;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.MnistFiles;
import io.weft.workloads.digits.SyntheticDigits;
import io.weft.workloads.pictures.CifarFiles;
import io.weft.workloads.pictures.SyntheticPictures;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/// A network, its data and the settings that train it well [VIS16 table 1].
public enum Workload {
  /// Digits, a network of 784-200-100-10 units.
  MNIST_DNN("mnist-dnn", "digits, 784-200-100-10", 784, 10, 8, 0.05f),
  /// Digits, 32 and 64 convolutions of 5x5, each with pooling, then 1024 units.
  MNIST_CNN("mnist-cnn", "digits, conv 5x5x32, conv 5x5x64, 1024-10", 784, 10, 2, 0.02f),
  /// Small pictures in three colours, a network of 3072-200-100-10 units.
  CIFAR10_DNN("cifar10-dnn", "small pictures, 3072-200-100-10", 3072, 10, 10, 0.01f),
  /// Small pictures, 32 and 64 convolutions of 5x5, each with pooling, then 1024 units.
  CIFAR10_CNN(
      "cifar10-cnn", "small pictures, conv 5x5x32, conv 5x5x64, 1024-10", 3072, 10, 5, 0.01f),
  /// Census, a network of 123-200-100-2 units.
  ADULT_DNN("adult-dnn", "census income, 123-200-100-2", 123, 2, 5, 0.02f),
  /// Random pixels of 224x224 in three colours, five convolutions and three dense layers, 50
  /// million weights, 24 images in a step [JIA17 §4]. Measures steps; there is nothing to be
  /// learned.
  ALEXNET("alexnet", "random pixels, AlexNet, 50 million weights", 3 * 224 * 224, 1000, 1, 0.001f),
  /// Clicks, a wide and a deep part over 200 columns of 500 categories, judged by the area under
  /// the curve (AUC): how probably a click has a higher score than none.
  WIDE_DEEP("wide-deep", "clicks, wide and deep over 200 columns", 400, 2, 3, 0.05f);

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

  /// The workload of this name; empty if there is none.
  public static Optional<Workload> named(String title) {
    return Arrays.stream(values()).filter(w -> w.title.equals(title)).findFirst();
  }

  /// All names, for messages.
  public static String names() {
    return Arrays.stream(values()).map(Workload::title).collect(Collectors.joining(", "));
  }

  /// As on the command line.
  public String title() {
    return title;
  }

  /// What it is, in a line.
  public String summary() {
    return summary;
  }

  /// Bytes of an example of the embedded data.
  public int features() {
    return features;
  }

  /// Whether it is judged by its ranking too: classes are 0 and 1, and few are 1.
  public boolean isRanked() {
    return this == WIDE_DEEP;
  }

  /// Whether its hidden layers can be enlarged.
  public boolean isEnlargeable() {
    return switch (this) {
      case MNIST_DNN, MNIST_CNN, CIFAR10_DNN, CIFAR10_CNN -> true;
      case ADULT_DNN, ALEXNET, WIDE_DEEP -> false;
    };
  }

  /// Width of its output.
  public int classes() {
    return classes;
  }

  /// Epochs that reach the accuracy which the network is capable of.
  public int defaultEpochs() {
    return epochs;
  }

  /// Examples in a step, over all ranks.
  public int defaultBatch() {
    return this == ALEXNET ? 24 : 128;
  }

  /// A learning rate that fits the optimizer.
  public float defaultRate(OptimizerKind optimizer) {
    return switch (optimizer) {
      case SGD -> 5 * momentumRate;
      case MOMENTUM -> momentumRate;
      case ADAM -> 0.001f;
      case ADAGRAD -> 0.02f;
    };
  }

  /// The published files in a directory; empty if this workload has none.
  public Optional<DataSource> files(Path directory) {
    return switch (this) {
      case MNIST_DNN, MNIST_CNN -> Optional.of(new MnistFiles(directory));
      case CIFAR10_DNN, CIFAR10_CNN -> Optional.of(new CifarFiles(directory));
      case ADULT_DNN -> Optional.of(new CensusFiles(directory));
      case ALEXNET -> Optional.empty();
      case WIDE_DEEP -> Optional.of(new CriteoFiles(directory));
    };
  }

  /// What it trains on where there are no files.
  public DataSource embedded(long seed) {
    return switch (this) {
      case MNIST_DNN, MNIST_CNN -> SyntheticDigits.standard(seed);
      case CIFAR10_DNN, CIFAR10_CNN -> SyntheticPictures.standard(seed);
      case ADULT_DNN -> new SyntheticCensus(seed);
      case ALEXNET -> new RandomPixels(features, seed);
      case WIDE_DEEP -> SyntheticClicks.standard(seed);
    };
  }
}
