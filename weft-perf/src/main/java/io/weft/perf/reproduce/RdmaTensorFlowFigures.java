// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.perf.gradients.GradientModel;
import io.weft.perf.plan.PlanLink;
import io.weft.perf.plan.PlanRanks;
import io.weft.perf.plan.StepSimulation;
import io.weft.perf.process.PerfException;
import io.weft.workloads.model.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The figures of JIA17: AlexNet in TensorFlow over TCP, IPoIB and RDMA.
final class RdmaTensorFlowFigures {

  private static final String DOCUMENT = "JIA17";
  private static final int BATCH = 24;
  private static final int STEPS = 300;
  private static final double PUBLISHED_SECONDS = 224;
  private static final Duration PUBLISHED_STEP =
      Duration.ofNanos(Math.round(1e9 * PUBLISHED_SECONDS / STEPS));
  private static final String ASSUMED =
      "Simulated with the document's step of one node (224 s / 300), Send/Recv with one server";
  private static final long LONG_BYTES = 16L << 20;

  private RdmaTensorFlowFigures() {}

  static List<PaperFigure> all() {
    return List.of(
        figure(
            "fig1",
            "300 steps of AlexNet take 224 s on one node; with gRPC over 1 Gbit/s they take much"
                + " more, and a third worker gains little",
            RdmaTensorFlowFigures::elapsed),
        figure(
            "cpu",
            "With gRPC over TCP the processors are used little, at times less than 10 %",
            RdmaTensorFlowFigures::utilization),
        Diagrams.of(
            DOCUMENT,
            "fig2",
            "Send and Recv of one process meet in a table, the later of both finds the other",
            "PendingTable and RendezvousTest"),
        Diagrams.of(
            DOCUMENT,
            "fig3",
            "A Recv of another process requests the tensor, and its source answers when it is"
                + " there",
            "SourceSide, DestinationSide and RendezvousTest"),
        figure(
            "fig4",
            "The read protocol and the write protocol are almost equally fast",
            RdmaTensorFlowFigures::protocols),
        figure(
            "yahoo",
            "10 % more performance than Yahoo's verbs in TensorFlow",
            row -> unavailable(row, "Yahoo's code is not a peer of weft perf")),
        figure(
            "grpc-over-rdma",
            "RDMA inside gRPC, an earlier system of the authors, is about three times as fast as"
                + " gRPC",
            RdmaTensorFlowFigures::againstGrpc),
        figure(
            "registration",
            "Registering memory is expensive, so buffers must be used again",
            RdmaTensorFlowFigures::registration),
        figure(
            "fig5",
            "gRPC over IPoIB is 3 to 4 times as fast as over TCP, RDMA 1.3 to 1.4 times as fast as"
                + " that, and nearly 6 times as fast as TCP",
            RdmaTensorFlowFigures::networks),
        figure(
            "fig6",
            "Over RDMA the steps per second grow nearly linearly with the workers",
            RdmaTensorFlowFigures::scaling));
  }

  private static PaperFigure figure(String name, String claim, PaperFigure.FigureTrial trial) {
    return new PaperFigure(DOCUMENT, name, claim, trial);
  }

  private static StepSimulation simulation(FigureRow row, PlanLink link, int workers) {
    GradientModel alexnet = row.networks().of(Workload.ALEXNET, BATCH, PUBLISHED_STEP);
    return new StepSimulation(alexnet, link, new PlanRanks(workers, 1, 1));
  }

  private static void elapsed(FigureRow row) throws InterruptedException {
    row.note(ASSUMED + ", and with equal data for each number of workers");
    row.note("The times of several workers stand only in a picture");
    PlanLink link = PlanLink.named("1g");
    List<Integer> workers = List.of(1, 2, 3, 4, 5, 6, 7);
    List<Double> seconds =
        workers.stream()
            .map(each -> STEPS / 1e9 / each * simulation(row, link, each).sendReceive(1))
            .toList();
    double third = seconds.get(2) / seconds.get(1);
    row.simulated(
        "2 workers %s s, 3 workers %s s"
            .formatted(Amount.number(seconds.get(1)), Amount.number(seconds.get(2))));
    row.axes("workers", "seconds for 300 steps");
    row.curve("over 1 Gbit/s, simulated", workers, seconds);
    row.curve("one node, document", List.of(1), List.of(PUBLISHED_SECONDS));
    row.judge(
        seconds.get(1) > PUBLISHED_SECONDS && third > 0.8,
        "the simulated server is not slower than one node");
    RunReport alone = row.run(Trainings.of(Workload.ALEXNET, 1, row.mode()));
    Duration all = Trainings.step(Workload.ALEXNET, alone).multipliedBy(STEPS);
    row.measured("one rank with one computing thread: " + Amount.of(all));
  }

  private static void utilization(FigureRow row) throws InterruptedException {
    row.note(ASSUMED + " and three workers: the part of a step in which a worker computes");
    List<Double> shares = new ArrayList<>();
    for (String link : List.of("1g", "40g", "rdma-40g")) {
      StepSimulation step = simulation(row, PlanLink.named(link), 3);
      shares.add(step.alone() / step.sendReceive(1));
    }
    row.simulated(
        "1 Gbit/s %s, IPoIB %s, RDMA %s"
            .formatted(
                Amount.percent(shares.get(0)),
                Amount.percent(shares.get(1)),
                Amount.percent(shares.get(2))));
    row.judge(shares.get(0) < 0.5, "the simulated worker computes more than half of the time");
    RunReport alone = row.run(Trainings.of(Workload.ALEXNET, 1, row.mode()));
    double busy = alone.number("/cpuSeconds") / alone.number("/elapsedSeconds");
    row.measured(
        "one rank alone, with one computing thread: %s processors".formatted(Amount.number(busy)));
  }

  private static void protocols(FigureRow row) throws InterruptedException {
    row.note("Over TCP of one host, read by default; RDMA needs a device. Tensors of 1 and 16 MiB");
    List<Double> read = longTensors(row.run(grpc(row)).where("peer", "weft"));
    List<Double> write =
        longTensors(row.run(tensors(row, "").with("WEFT_RENDEZVOUS_PROTOCOL", "write")));
    double small = read.getFirst() / write.getFirst();
    double large = read.getLast() / write.getLast();
    row.measured(
        "write is %s as fast as read for 1 MiB, %s for 16 MiB"
            .formatted(Amount.times(small), Amount.times(large)));
    row.compare(Math.sqrt(small * large), 1, 1, 0.25, "a message less or more counts on one host");
  }

  /// Returns the medians of the cases with tensors, in microseconds.
  private static List<Double> longTensors(RunReport report) {
    RunReport cases = report.where("tensors", "1");
    return cases.numbers("/p50Micros");
  }

  /// Returns a measurement beside TensorFlow's gRPC.
  private static WeftRun grpc(FigureRow row) {
    return tensors(row, " --peer grpc");
  }

  private static WeftRun tensors(FigureRow row, String peer) {
    return WeftRun.of(
        "perf sendrecv --transport tcp --tensors 1 --bytes 1M,16M --rounds 1"
            + peer
            + row.mode().choose(" --warm-up 50 --iterations 40", " --iterations 300"));
  }

  private static void againstGrpc(FigureRow row) throws InterruptedException {
    row.verdict(FigureRow.NEEDS_CARDS);
    row.note("The measured ratio is Weft's Send/Recv over TCP to TensorFlow's gRPC, 16 MiB");
    RunReport report = row.run(grpc(row));
    double ratio =
        longTensors(report.peer()).getLast() / longTensors(report.where("peer", "weft")).getLast();
    row.measured("without RDMA: " + Amount.times(ratio) + " as fast as gRPC");
  }

  private static void registration(FigureRow row) throws InterruptedException {
    row.verdict(FigureRow.NEEDS_CARDS);
    row.note("The document has no number");
    RunReport report =
        row.run(WeftRun.of("perf registration --transport verbs --peer each-time --rounds 1"));
    double ratio = report.objects().getLast().path("p50Micros").asDouble();
    ratio /= report.number("/p50Micros");
    row.measured("without cached registrations a write takes " + Amount.times(ratio));
    row.judge(ratio > 1, "registering is cheap with this device");
  }

  private static void networks(FigureRow row) throws InterruptedException {
    row.note(ASSUMED + " and three workers");
    row.axes("workers", "steps a second");
    List<Integer> workers = List.of(1, 2, 3, 4, 5, 6, 7);
    for (String link : List.of("1g", "40g", "rdma-40g")) {
      row.curve(
          link + ", simulated",
          workers,
          workers.stream()
              .map(n -> 1e9 * n / simulation(row, PlanLink.named(link), n).sendReceive(1))
              .toList());
    }
    PlanLink slow = PlanLink.named("1g");
    PlanLink fast = PlanLink.named("40g");
    compareNetworks(row, slow, fast, "Weft's TCP");
    try {
      double micros = longTensors(row.run(grpc(row)).peer()).getLast();
      double nanosPerByte = 1e3 * micros / LONG_BYTES / 2;
      compareNetworks(row, costly(slow, nanosPerByte), costly(fast, nanosPerByte), "gRPC");
      row.note(
          "The processor time of gRPC is measured here, %s ns a byte at each end"
              .formatted(Amount.number(nanosPerByte)));
    } catch (PerfException absent) {
      row.note("Simulated with the costs of Weft's TCP, because gRPC was not measured");
      throw absent;
    }
  }

  private static PlanLink costly(PlanLink link, double nanosPerByte) {
    return new PlanLink(
        link.name(), link.bytesPerSecond(), link.latency(), link.perMessage(), nanosPerByte);
  }

  private static void compareNetworks(
      FigureRow row, PlanLink slow, PlanLink fast, String software) {
    double tcp = simulation(row, slow, 3).sendReceive(1);
    double ipoib = simulation(row, fast, 3).sendReceive(1);
    double rdma = simulation(row, PlanLink.named("rdma-40g"), 3).sendReceive(1);
    row.simulated(
        "with the costs of %s: IPoIB %s TCP, RDMA %s IPoIB, %s TCP"
            .formatted(
                software,
                Amount.times(tcp / ipoib),
                Amount.times(ipoib / rdma),
                Amount.times(tcp / rdma)));
    row.compare(
        tcp / rdma, 6, 6, 0.25, "the number of workers and servers of the document is unknown");
    if (tcp / ipoib > 4 * 1.25) {
      row.judge(
          false,
          "the processors of 2017 lose more time by IPoIB than those of the model; RDMA is "
              + Amount.times(tcp / rdma)
              + " as fast as TCP");
    }
  }

  private static void scaling(FigureRow row) {
    row.note("Simulated with the document's step of one node, and a server for each worker");
    row.note("The numbers stand only in a picture");
    List<Integer> workers = List.of(1, 2, 3, 4, 5, 6, 7, 8);
    PlanLink link = PlanLink.named("rdma-40g");
    List<Double> steps =
        workers.stream()
            .map(each -> 1e9 * each / simulation(row, link, each).sendReceive(each))
            .toList();
    row.simulated(
        "1 worker %s, 8 workers %s steps a second"
            .formatted(Amount.number(steps.getFirst()), Amount.number(steps.getLast())));
    row.axes("workers", "steps a second");
    row.curve("RDMA, simulated", workers, steps);
    row.curve("linear", workers, workers.stream().map(n -> n * steps.getFirst()).toList());
    row.judge(steps.getLast() > 0.8 * 8 * steps.getFirst(), "servers delay the simulated workers");
  }

  private static void unavailable(FigureRow row, String why) {
    row.verdict(FigureRow.NEEDS_CARDS);
    row.note("Not measured: " + why);
  }
}
