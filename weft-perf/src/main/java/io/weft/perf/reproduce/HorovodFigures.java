// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.perf.gradients.Architectures;
import io.weft.perf.gradients.GradientModel;
import io.weft.perf.plan.PlanLink;
import io.weft.perf.plan.PlanRanks;
import io.weft.perf.plan.StepSimulation;
import io.weft.perf.plan.StepSpread;
import io.weft.perf.process.PerfException;
import io.weft.workloads.model.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/// The figures of HVD18: data-parallel training on up to 128 GPUs.
final class HorovodFigures {

  private static final String DOCUMENT = "HVD18";
  private static final int GPUS = 128;
  private static final int PER_HOST = 4;
  private static final List<Integer> RANKS = List.of(1, 2, 4, 8, 16, 32, 64, 128);

  /// Numbers of ranks whose learning rate follows them.
  private static final List<Integer> SCALED = List.of(1, 2, 4, 8, 16, 32);

  private static final String ASSUMED =
      "Simulated with the published step of 64 images on a Tesla P100, 4 GPUs a host";
  private static final StepSpread SPREAD = new StepSpread(0.05);
  private static final String EQUAL =
      "in the model all ranks are equally fast, and the gradients fit into the backward pass";

  private static final String EVEN =
      "in the model all workers are equally fast and load the servers evenly";

  private HorovodFigures() {}

  static List<PaperFigure> all() {
    return List.of(
        standard("fig1-inception-v3", "inception-v3", "Inception V3"),
        standard("fig1-resnet101", "resnet101", "ResNet-101"),
        figure(
            "fig2",
            "Data parallelism: ranks read chunks, average gradients and have equal models",
            HorovodFigures::equalModels),
        figure(
            "fig3",
            "The right ratio of servers to workers is hard to find: few are a bottleneck",
            HorovodFigures::servers),
        figure("fig4", "Ring allreduce uses the network optimally", HorovodFigures::allreduce),
        figure(
            "fig5",
            "One environment variable records a timeline of all ranks for chrome://tracing",
            HorovodFigures::timeline),
        figure(
            "fusion",
            "Tensor fusion is up to 65 % faster for many layers over unoptimized TCP",
            HorovodFigures::fusion),
        figure(
            "fusion-1g",
            "The same over a network that is slower than the processors",
            HorovodFigures::fusionOverLink),
        horovod("fig6-inception-v3", "inception-v3", "Inception V3"),
        horovod("fig6-resnet101", "resnet101", "ResNet-101"),
        figure(
            "fig6-standard",
            "Horovod is about twice as fast as standard distributed TensorFlow",
            HorovodFigures::twice),
        rdma("fig7-inception-v3", "inception-v3", "Inception V3"),
        rdma("fig7-resnet101", "resnet101", "ResNet-101"),
        figure(
            "fig7-vgg16",
            "VGG-16 on RDMA is 30 % faster than on TCP",
            HorovodFigures::manyParameters),
        figure(
            "rates",
            "With learning rates for many ranks the accuracy does not fall",
            HorovodFigures::rates));
  }

  private static PaperFigure figure(String name, String claim, PaperFigure.FigureTrial trial) {
    return new PaperFigure(DOCUMENT, name, claim, trial);
  }

  private static PaperFigure standard(String name, String model, String title) {
    return figure(
        name,
        title + " in standard distributed TensorFlow loses about half of 128 GPUs",
        row -> {
          row.note(ASSUMED + ", one server for each host; other numbers stand in a picture");
          List<Double> efficiency = efficiency(model, "25g", HorovodFigures::served);
          row.simulated("efficiency on 128 GPUs " + Amount.percent(efficiency.getLast()));
          speedUp(row, "servers, simulated", efficiency);
          row.compare(efficiency.getLast(), 0.5, 0.55, 0.1, EVEN);
        });
  }

  private static PaperFigure horovod(String name, String model, String title) {
    return figure(
        name,
        title + " with Horovod over 25 Gbit/s TCP scales with 88 % efficiency to 128 GPUs",
        row -> {
          row.note(ASSUMED);
          List<Double> efficiency = efficiency(model, "25g", HorovodFigures::fused);
          row.simulated("efficiency on 128 GPUs " + Amount.percent(efficiency.getLast()));
          speedUp(row, "Horovod's way, simulated", efficiency);
          row.curve("document", List.of(GPUS), List.of(0.88 * GPUS));
          GradientModel network = Architectures.named(model);
          GradientModel slowest = network.taking(SPREAD.slowest(network.step(), GPUS));
          double slow =
              simulation(network, "25g", GPUS).alone() / fused(simulation(slowest, "25g", GPUS));
          row.note(
              "If the times of the ranks' steps have a standard deviation of 5 %, it is "
                  + Amount.percent(slow));
          row.compare(efficiency.getLast(), 0.88, 0.88, 0.1, EQUAL);
        });
  }

  private static PaperFigure rdma(String name, String model, String title) {
    return figure(
        name,
        title + " on RDMA is 3 to 4 % faster than on TCP, above 90 % efficiency",
        row -> {
          row.note(ASSUMED);
          List<Double> tcp = efficiency(model, "25g", HorovodFigures::fused);
          List<Double> rdma = efficiency(model, "rdma-25g", HorovodFigures::fused);
          double gain = rdma.getLast() / tcp.getLast() - 1;
          row.simulated(
              "RDMA gains %s, efficiency %s"
                  .formatted(Amount.percent(gain), Amount.percent(rdma.getLast())));
          speedUp(row, "RDMA, simulated", rdma);
          row.curve("TCP, simulated", RANKS, times(tcp));
          row.judge(rdma.getLast() > 0.9 && gain < 0.08, "the model's link is slower");
        });
  }

  private static StepSimulation simulation(GradientModel model, String link, int ranks) {
    return new StepSimulation(model, PlanLink.named(link), new PlanRanks(ranks, PER_HOST, 0));
  }

  private static double fused(StepSimulation step) {
    return step.fused(DocumentNetworks.FUSION_BYTES);
  }

  /// Returns the duration of a step with a server for each host of four GPUs.
  private static double served(StepSimulation step) {
    int ranks = step.ranks().count();
    return ranks == 1 ? step.alone() : step.sendReceive(Math.ceilDiv(ranks, PER_HOST));
  }

  private static List<Double> efficiency(
      String model, String link, ToDoubleFunction<StepSimulation> way) {
    GradientModel network = Architectures.named(model);
    return RANKS.stream()
        .map(each -> simulation(network, link, each))
        .map(step -> step.alone() / way.applyAsDouble(step))
        .toList();
  }

  private static List<Double> times(List<Double> efficiency) {
    List<Double> times = new ArrayList<>();
    for (int i = 0; i < RANKS.size(); i++) {
      times.add(RANKS.get(i) * efficiency.get(i));
    }
    return times;
  }

  private static void speedUp(FigureRow row, String name, List<Double> efficiency) {
    row.axes("GPUs, 4 on each host", "times one GPU");
    row.curve("ideal", RANKS, RANKS.stream().map(n -> 1.0 * n).toList());
    row.curve(name, RANKS, times(efficiency));
  }

  private static void twice(FigureRow row) {
    row.note(ASSUMED + ", one server for each host");
    double horovod = efficiency("resnet101", "25g", HorovodFigures::fused).getLast();
    double standard = efficiency("resnet101", "25g", HorovodFigures::served).getLast();
    row.simulated("ResNet-101: " + Amount.times(horovod / standard));
    row.compare(horovod / standard, 2, 2, 0.25, EVEN);
  }

  private static void manyParameters(FigureRow row) {
    row.note(ASSUMED);
    List<Double> tcp = efficiency("vgg16", "25g", HorovodFigures::fused);
    List<Double> rdma = efficiency("vgg16", "rdma-25g", HorovodFigures::fused);
    double gain = rdma.getLast() / tcp.getLast();
    row.simulated("RDMA gains " + Amount.percent(gain - 1));
    speedUp(row, "RDMA, simulated", rdma);
    row.curve("TCP, simulated", RANKS, times(tcp));
    row.compare(gain, 1.3, 1.3, 0.08, "Weft's TCP moves 20 of the 25 Gbit/s with one processor");
  }

  private static void equalModels(FigureRow row) throws InterruptedException {
    RunReport report = row.run(Trainings.of(Workload.MNIST_DNN, 2, row.mode()));
    List<String> digests = report.texts("/weightsDigest");
    boolean equal = digests.size() == 2 && digests.stream().distinct().count() == 1;
    row.measured(
        "%d ranks have %s weights".formatted(digests.size(), equal ? "equal" : "different"));
    row.note("The digests of all weights after the training are compared");
    row.judge(equal, "the ranks have different weights");
  }

  private static void servers(FigureRow row) {
    row.note(ASSUMED + ", 128 GPUs; the document has no number");
    GradientModel network = Architectures.named("resnet101");
    StepSimulation step = simulation(network, "25g", GPUS);
    List<Double> efficiency =
        RANKS.stream().map(each -> step.alone() / step.pushPull(each)).toList();
    row.simulated(
        "efficiency with 1 server %s, 32 %s, 128 %s"
            .formatted(
                Amount.percent(efficiency.getFirst()),
                Amount.percent(efficiency.get(RANKS.indexOf(32))),
                Amount.percent(efficiency.getLast())));
    row.axes("servers for 128 GPUs", "efficiency in percent");
    row.curve(
        "push and pull, simulated", RANKS, efficiency.stream().map(each -> 100 * each).toList());
    row.shownBy("./weft plan alexnet --link 25g");
    row.judge(efficiency.getFirst() < efficiency.getLast() / 2, "one simulated server suffices");
  }

  private static void allreduce(FigureRow row) throws InterruptedException {
    WeftRun alone =
        WeftRun.of(
            "perf allreduce --transport tcp --bytes 64K,1M,16M"
                + row.mode().choose(" --rounds 1 --warm-up 20 --iterations 40", " --rounds 5"));
    RunReport report;
    try {
      report = row.run(WeftRun.of(alone.words() + " --peer openmpi"));
      double ratio = largest(report.peer()) / largest(report.where("peer", "weft"));
      row.measured("16 MiB on 2 ranks: %s Open MPI".formatted(Amount.times(ratio)));
      row.judge(ratio > 0.9, "Open MPI is faster here");
    } catch (PerfException.Missing missing) {
      row.note("Without Open MPI: " + missing.getMessage());
      report = row.run(alone);
      row.measured(
          "16 MiB on 2 ranks: %s GB/s of a link"
              .formatted(Amount.number(report.numbers("/busGigabytesPerSecond").getLast())));
    }
    RunReport weft = report.where("peer", "weft");
    row.axes("bytes", "microseconds");
    row.curve("Weft, measured", weft.numbers("/bytes"), weft.numbers("/p50Micros"));
    row.note("VerifierTest proves the 2(n-1)/n of the bytes that each rank sends in a ring");
  }

  /// Returns the median of the largest size in microseconds.
  private static double largest(RunReport report) {
    return report.numbers("/p50Micros").getLast();
  }

  private static void timeline(FigureRow row) throws InterruptedException {
    row.run(
        WeftRun.of(
            "train mnist-dnn -np 2 --threads 1 --batch 512 --steps 60 --timeline DIR/timeline"));
    RunReport report = row.run(WeftRun.of("trace report DIR/timeline"));
    row.measured(
        "%d ranks, %s steps, computing %s, exposed communication %s"
            .formatted(
                Math.round(report.number("/ranks")),
                Math.round(report.number("/steps")),
                Amount.percent(report.number("/computeShare")),
                Amount.percent(report.number("/exposedShare"))));
    row.shownBy("./weft trace merge DIR/timeline --out trace.json");
    row.judge(report.number("/ranks") == 2, "a rank's timeline is missing");
  }

  private static WeftRun fusionRun(FigureRow row, String more) {
    return WeftRun.of(
        "perf gradients --model uniform --tensors 200 --bytes 4K --fusion on,off --transport tcp"
            + row.mode().choose(" --rounds 1 --steps 30", " --rounds 3")
            + more);
  }

  /// Returns the speed with fusion divided by that without it.
  private static double gain(RunReport report) {
    return report.where("fusion", "false").number("/stepMicros")
        / report.where("fusion", "true").number("/stepMicros");
  }

  private static void fusion(FigureRow row) throws InterruptedException {
    GradientModel tensors = DocumentNetworks.tensors(200, 4096, Duration.ZERO);
    StepSimulation step =
        new StepSimulation(tensors, PlanLink.named("25g"), new PlanRanks(GPUS, PER_HOST, 1));
    row.simulated(
        "200 tensors of 4 KiB, 128 ranks, without computation: "
            + Amount.times(step.single() / fused(step)));
    double gain = gain(row.run(fusionRun(row, "")));
    row.measured("200 tensors of 4 KiB, 2 ranks of one host: " + Amount.times(gain));
    row.compare(
        gain, 1.65, 1.65, 0.25, "single tensors of one host follow each other within microseconds");
  }

  private static void fusionOverLink(FigureRow row) throws InterruptedException {
    row.note("Two network namespaces with a link of 1 Gbit/s between them");
    double gain = gain(row.run(fusionRun(row, " --gbit 1")));
    row.measured("200 tensors of 4 KiB: " + Amount.times(gain));
    row.compare(gain, 1.65, 1.65, 0.25, "both settings fill the link, which has no latency");
  }

  /// Trains with a rate that follows the ranks, each with an equal batch.
  private static void rates(FigureRow row) throws InterruptedException {
    row.note(
        "The document refers to [GOYAL17], where the error of one machine remains, within 0.2"
            + " points, with 32 times its batch; --data DIR trains on the published digits");
    if (row.mode() != ReproductionMode.FULL) {
      row.note("Only --full measures it");
      return;
    }
    List<Double> accuracies = new ArrayList<>();
    for (int ranks : SCALED) {
      RunReport report =
          row.run(
              WeftRun.of(
                  "train mnist-dnn -np %d --threads 1 --batch-per-rank 64 --epochs 10 --scale-lr --warmup-epochs 2"
                      .formatted(ranks)));
      accuracies.add(100 * report.number("/testAccuracy"));
    }
    row.measured(
        "test accuracy on %s ranks: %s percent"
            .formatted(
                words(SCALED, each -> "" + each),
                words(accuracies, each -> String.format(Locale.ROOT, "%.2f", each))));
    row.axes("ranks", "test accuracy in percent");
    row.curve("rate times ranks, measured", SCALED, accuracies);
    row.judge(
        accuracies.getLast() > accuracies.getFirst() - 1,
        "an epoch on 32 ranks has few steps, and the network is trained for ten epochs only");
  }

  private static <T> String words(List<T> some, Function<T, String> word) {
    return some.stream().map(word).collect(Collectors.joining(", "));
  }
}
