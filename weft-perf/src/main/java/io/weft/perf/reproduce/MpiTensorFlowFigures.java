// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.workloads.model.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// The figures of VIS16: strong scaling of seven networks, and their accuracy.
final class MpiTensorFlowFigures {

  private static final String DOCUMENT = "VIS16";

  /// The factor between the two simulated batches.
  private static final int LARGER = 8;

  private static final List<Workload> NETWORKS =
      List.of(
          Workload.ADULT_DNN,
          Workload.ACOUSTIC_DNN,
          Workload.MNIST_DNN,
          Workload.MNIST_CNN,
          Workload.CIFAR10_DNN,
          Workload.CIFAR10_CNN,
          Workload.HIGGS_DNN);

  private MpiTensorFlowFigures() {}

  static List<PaperFigure> all() {
    return List.of(
        figure(
            "table1",
            "Seven networks on five data sets: Adult, Acoustic, MNIST (two), CIFAR10 (two), HIGGS",
            MpiTensorFlowFigures::networks),
        scaling(
            "fig1",
            "MNIST-DNN on 32 cores is 11.6 times as fast as on 1",
            new Cores(Workload.MNIST_DNN, 1, 32, 11.6)),
        scaling(
            "fig2",
            "MNIST-CNN on 64 cores is 1.92 times as fast as on 16",
            new Cores(Workload.MNIST_CNN, 16, 64, 1.92)),
        scaling(
            "fig3",
            "Adult on up to 40 cores gains in each configuration over 5",
            new Cores(Workload.ADULT_DNN, 5, 40, 0)),
        scaling(
            "fig4",
            "Acoustic on up to 40 cores scales, and tapers at 32",
            new Cores(Workload.ACOUSTIC_DNN, 1, 40, 0)),
        scaling(
            "fig5",
            "CIFAR10-DNN on 64 cores is 3.37 times as fast as on 16",
            new Cores(Workload.CIFAR10_DNN, 16, 64, 3.37)),
        scaling(
            "fig6",
            "CIFAR10-CNN on up to 64 cores gains modestly over 4",
            new Cores(Workload.CIFAR10_CNN, 4, 64, 0)),
        scaling(
            "higgs",
            "HIGGS on 80 cores is 2.6 times as fast as on 20",
            new Cores(Workload.HIGGS_DNN, 20, 80, 2.6)),
        figure(
            "accuracy",
            "CIFAR10-DNN reaches 55 % accuracy in less than an hour",
            MpiTensorFlowFigures::accuracy));
  }

  /// The cores of a figure.
  ///
  /// @param workload the network
  /// @param least the cores to which others are compared
  /// @param most the largest number of cores
  /// @param published the document's speed-up, 0 if it has none in words
  private record Cores(Workload workload, int least, int most, double published) {

    List<Integer> numbers() {
      return Stream.concat(Stream.iterate(least, n -> n < most, n -> 2 * n), Stream.of(most))
          .toList();
    }
  }

  private static PaperFigure figure(String name, String claim, PaperFigure.FigureTrial trial) {
    return new PaperFigure(DOCUMENT, name, claim, trial);
  }

  private static PaperFigure scaling(String name, String claim, Cores cores) {
    return figure(name, claim, row -> scaling(row, cores));
  }

  private static void networks(FigureRow row) throws InterruptedException {
    List<String> speeds = new ArrayList<>();
    for (Workload network : NETWORKS) {
      RunReport report = row.run(Trainings.of(network, 1, row.mode()));
      speeds.add(
          "%s %s/s".formatted(network.title(), Amount.number(Trainings.samplesPerSecond(report))));
    }
    row.measured("examples on one rank: " + String.join(", ", speeds));
    row.note("Synthetic data; --data DIR trains on the published files (docs/workloads.md)");
    row.judge(true, "");
  }

  private static void scaling(FigureRow row, Cores cores) throws InterruptedException {
    Workload workload = cores.workload();
    int batch = Trainings.batch(workload);
    RunReport alone = row.run(Trainings.of(workload, 1, row.mode()));
    Duration step = Trainings.step(workload, alone);
    row.note(
        "Simulated with the measured step of one rank, over RDMA of 40 Gbit/s between hosts of 16"
            + " ranks, which share batches of %d or %d examples; the document names no batch"
                .formatted(batch, LARGER * batch));
    List<Integer> numbers = cores.numbers();
    List<Double> small = relative(row, cores, batch, step);
    List<Double> large = relative(row, cores, LARGER * batch, step);
    row.simulated(
        "%d cores %s %d with batch %d, %s with batch %d"
            .formatted(
                cores.most(),
                Amount.times(small.getLast()),
                cores.least(),
                batch,
                Amount.times(large.getLast()),
                LARGER * batch));
    row.axes("cores", "times %d cores".formatted(cores.least()));
    row.curve("batch %d, simulated".formatted(batch), numbers, small);
    row.curve("batch %d, simulated".formatted(LARGER * batch), numbers, large);
    row.curve("ideal", numbers, numbers.stream().map(n -> 1.0 * n / cores.least()).toList());
    judge(row, cores, small, large);
    if (row.mode() == ReproductionMode.FULL || workload == Workload.MNIST_DNN) {
      RunReport two = row.run(Trainings.of(workload, 2, row.mode()));
      double speed = Trainings.samplesPerSecond(two) / Trainings.samplesPerSecond(alone);
      row.measured("2 ranks are %s as fast as 1".formatted(Amount.times(speed)));
    }
  }

  private static List<Double> relative(FigureRow row, Cores cores, int batch, Duration step) {
    List<Double> speeds =
        row.networks()
            .shared(
                cores.workload(), batch, Trainings.batch(cores.workload()), step, cores.numbers());
    return speeds.stream().map(each -> each / speeds.getFirst()).toList();
  }

  private static void judge(FigureRow row, Cores cores, List<Double> small, List<Double> large) {
    double least = Math.min(small.getLast(), large.getLast());
    double most = Math.max(small.getLast(), large.getLast());
    if (cores.published() > 0) {
      row.curve("document", List.of(cores.most()), List.of(cores.published()));
      row.compare(
          Math.clamp(cores.published(), least, most),
          cores.published(),
          cores.published(),
          0.25,
          least > cores.published()
              ? "the document averages weights by MPI between machines of 2016, which the model"
                  + " does not cost"
              : "the measured step of this machine is short compared with its exchange");
      return;
    }
    row.note("The numbers stand only in a picture");
    boolean rises = large.getLast() > large.getFirst();
    boolean tapers = large.getLast() < 1.0 * cores.most() / cores.least();
    row.judge(rises && tapers, "the simulated speed does not " + (rises ? "taper" : "grow"));
  }

  private static void accuracy(FigureRow row) throws InterruptedException {
    row.shownBy("./weft train cifar10-dnn --data DIR --epochs 12");
    row.note(
        "Needs the published CIFAR10 files: with them 12 epochs reach 0.50 to 0.51"
            + " (docs/benchmarks/2026-11-27-xeon.md)");
    RunReport report = row.run(Trainings.of(Workload.CIFAR10_DNN, 1, row.mode()));
    row.measured(
        "on drawn pictures %s after %s"
            .formatted(
                Amount.percent(report.number("/testAccuracy")),
                Amount.of(Duration.ofMillis(Math.round(1e3 * report.number("/elapsedSeconds"))))));
    row.verdict("differs because drawn pictures are easier than CIFAR10's");
  }
}
