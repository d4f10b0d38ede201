// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.workloads.model.Workload;
import java.time.Duration;

/// The trainings that several rows share: a workload on one or two ranks of one computing thread
/// each, with an equal batch over all ranks. Stateless.
final class Trainings {

  private Trainings() {}

  /// Returns the examples of all ranks in a step.
  static int batch(Workload workload) {
    return switch (workload) {
      case MNIST_DNN, CIFAR10_DNN, ADULT_DNN, ACOUSTIC_DNN, HIGGS_DNN -> 512;
      case MNIST_CNN, CIFAR10_CNN, WIDE_DEEP -> 128;
      case ALEXNET, TINY_GPT -> workload.defaultBatch();
    };
  }

  /// Returns a training. Convolutions end after some steps, because an epoch of them is long.
  static WeftRun of(Workload workload, int ranks, ReproductionMode mode) {
    return WeftRun.of(
        "train %s -np %d --threads 1 --batch %d --minutes %s%s"
            .formatted(
                workload.title(),
                ranks,
                batch(workload),
                mode.choose("0.14", "0.5"),
                steps(workload, mode)));
  }

  private static String steps(Workload workload, ReproductionMode mode) {
    return switch (workload) {
      case MNIST_DNN, CIFAR10_DNN, ADULT_DNN, ACOUSTIC_DNN, HIGGS_DNN, WIDE_DEEP, TINY_GPT -> "";
      case MNIST_CNN -> " --steps " + mode.choose("30", "100");
      case CIFAR10_CNN -> " --steps " + mode.choose("20", "60");
      case ALEXNET -> " --steps " + mode.choose("4", "12");
    };
  }

  /// Returns the speed of all ranks after the warm-up, or of the whole run if it was shorter.
  static double samplesPerSecond(RunReport report) {
    String steady = "/steady/samplesPerSecond";
    return report.number(report.has(steady) ? steady : "/samplesPerSecond");
  }

  /// Returns the duration of a step.
  static Duration step(Workload workload, RunReport report) {
    return Duration.ofNanos(Math.round(1e9 * batch(workload) / samplesPerSecond(report)));
  }
}
