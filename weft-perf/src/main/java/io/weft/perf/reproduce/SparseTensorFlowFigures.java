// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.perf.gradients.GradientModel;
import io.weft.perf.plan.PlanLink;
import io.weft.perf.plan.PlanRanks;
import io.weft.perf.plan.StepSimulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The figures of SEASTAR: asynchronous training of sparse models by many workers, with gRPC or
/// with seastar and FuseRecv.
final class SparseTensorFlowFigures {

  private static final String DOCUMENT = "SEASTAR";
  private static final int TENSORS = 300;
  private static final int TENSOR_BYTES = 256;
  private static final int SERVERS = 10;
  private static final Duration COMPUTE = Duration.ofMillis(20);
  private static final List<Integer> WORKERS = List.of(1, 10, 25, 50, 100, 200, 400, 800);
  private static final String ASSUMED =
      "Simulated: %d tensors of %d bytes each way a step, %d servers, 20 ms of computation, 10 Gbit/s"
          .formatted(TENSORS, TENSOR_BYTES, SERVERS);

  private SparseTensorFlowFigures() {}

  static List<PaperFigure> all() {
    return List.of(
        figure(
            "result-100",
            "gRPC stops to scale at about 100 workers, seastar with FuseRecv continues",
            SparseTensorFlowFigures::hundred),
        figure(
            "result-400",
            "At 400 workers seastar with FuseRecv is 2 to 4 times as fast as gRPC",
            SparseTensorFlowFigures::fourHundred),
        figure(
            "small-messages",
            "Seastar exchanges short messages several times as fast as gRPC",
            SparseTensorFlowFigures::shortMessages),
        figure(
            "fuserecv",
            "One call for all receives of one source and destination, in place of one for each",
            SparseTensorFlowFigures::fused),
        figure(
            "comments",
            "A reader's question: is it FuseRecv, zero copy or lock freedom that gains most?",
            SparseTensorFlowFigures::parts));
  }

  private static PaperFigure figure(String name, String claim, PaperFigure.FigureTrial trial) {
    return new PaperFigure(DOCUMENT, name, claim, trial);
  }

  private static WeftRun messages(FigureRow row) {
    return WeftRun.of(
        "perf messages --transport tcp --outstanding 256 --rounds 1 --peer grpc --iterations "
            + row.mode().choose("20", "200"));
  }

  private static WeftRun traffic(FigureRow row) {
    return WeftRun.of(
        "perf wide-deep-traffic --peer grpc --rounds 1 "
            + row.mode()
                .choose(
                    "--servers 2 --workers 1,10,25 --warm-up 300 --window 1200",
                    "--workers 1,10,50,100 --warm-up 2000 --window 5000"));
  }

  /// Returns the time of one unary call of gRPC in nanoseconds, measured here. Client and server
  /// have a processor each.
  private static double callNanos(FigureRow row) throws InterruptedException {
    double nanos = 1e9 / row.run(messages(row)).peer().number("/messagesPerSecond");
    row.note(
        ASSUMED
            + "; a call of gRPC takes the measured %s us at each end"
                .formatted(Amount.number(nanos / 1e3)));
    return nanos;
  }

  /// Returns the link over which each tensor is a call. The simulator sends one message for all
  /// short tensors of a server, so that a message costs as much as their calls.
  private static PlanLink calls(PlanLink link, double callNanos) {
    long nanos = Math.round(callNanos * TENSORS / SERVERS);
    return new PlanLink(
        "grpc",
        link.bytesPerSecond(),
        link.latency(),
        Duration.ofNanos(nanos),
        link.nanosPerByte());
  }

  /// Returns the steps a second of all workers.
  private static List<Double> speeds(PlanLink link) {
    GradientModel model = DocumentNetworks.tensors(TENSORS, TENSOR_BYTES, COMPUTE);
    return WORKERS.stream()
        .map(
            each ->
                1e9
                    * each
                    / new StepSimulation(model, link, new PlanRanks(each, 1, 1))
                        .sendReceive(SERVERS))
        .toList();
  }

  private static double at(List<Double> speeds, int workers) {
    return speeds.get(WORKERS.indexOf(workers));
  }

  private static void hundred(FigureRow row) throws InterruptedException {
    PlanLink link = PlanLink.named("10g");
    List<Double> grpc = speeds(calls(link, callNanos(row)));
    List<Double> weft = speeds(link);
    row.note("The steps of each number of workers stand only in a picture");
    row.simulated(
        "from 100 to 400 workers gRPC gains %s, Weft %s"
            .formatted(
                Amount.times(at(grpc, 400) / at(grpc, 100)),
                Amount.times(at(weft, 400) / at(weft, 100))));
    row.axes("workers", "steps a second");
    row.curve("Weft, simulated", WORKERS, weft);
    row.curve("gRPC, simulated", WORKERS, grpc);
    row.judge(
        at(grpc, 400) < 2 * at(grpc, 100) && at(weft, 400) > 2 * at(weft, 100),
        "a call of gRPC costs another time here");
    RunReport here = row.run(traffic(row));
    List<Double> ours = here.where("peer", "weft").numbers("/stepsPerSecond");
    List<Double> theirs = here.peer().numbers("/stepsPerSecond");
    List<Double> workers = here.peer().numbers("/workers");
    row.curve("Weft, measured", workers, ours);
    row.curve("gRPC, measured", workers, theirs.stream().map(y -> Math.max(y, 0.1)).toList());
    row.measured(
        "one host, %s workers: Weft %s, gRPC %s steps a second"
            .formatted(
                Math.round(workers.getLast()),
                Amount.number(ours.getLast()),
                Amount.number(theirs.getLast())));
  }

  private static void fourHundred(FigureRow row) throws InterruptedException {
    PlanLink link = PlanLink.named("10g");
    List<Double> weft = speeds(link);
    List<Double> grpc = speeds(calls(link, callNanos(row)));
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < WORKERS.size(); i++) {
      ratios.add(weft.get(i) / grpc.get(i));
    }
    double ratio = at(ratios, 400);
    row.axes("workers", "Weft, times gRPC");
    row.curve("simulated", WORKERS, ratios);
    row.curve("document, least", List.of(400), List.of(2.0));
    row.curve("document, most", List.of(400), List.of(4.0));
    row.simulated("Weft is " + Amount.times(ratio) + " as fast as gRPC");
    row.compare(
        ratio,
        2,
        4,
        0.25,
        "the document names neither tensors nor servers, which decide when servers are busy");
  }

  private static void shortMessages(FigureRow row) throws InterruptedException {
    RunReport report = row.run(messages(row));
    double ratio =
        report.where("peer", "weft").number("/messagesPerSecond")
            / report.peer().number("/messagesPerSecond");
    row.measured("64-byte messages over TCP: " + Amount.times(ratio) + " as fast as grpc-java");
    row.judge(ratio > 2, "gRPC is faster here");
  }

  private static void fused(FigureRow row) throws InterruptedException {
    RunReport here = row.run(traffic(row));
    double fused = here.where("peer", "weft").numbers("/requestsPerStep").getLast();
    double single = here.where("peer", "weft single").numbers("/requestsPerStep").getLast();
    row.measured(
        "%s requests a step in place of %s".formatted(Amount.number(fused), Amount.number(single)));
    row.judge(single > 2 * fused, "few receives are ready together");
  }

  private static void parts(FigureRow row) throws InterruptedException {
    row.note("The document gives no answer");
    RunReport here = row.run(traffic(row));
    double weft = here.where("peer", "weft").numbers("/stepsPerSecond").getLast();
    double single = here.where("peer", "weft single").numbers("/stepsPerSecond").getLast();
    double grpc = Math.max(0.1, here.peer().numbers("/stepsPerSecond").getLast());
    row.measured(
        "fused receives %s single ones; single ones %s gRPC"
            .formatted(Amount.times(weft / single), Amount.times(single / grpc)));
    row.verdict(
        weft / single > single / grpc
            ? "answered: fused receives gain more than the rest"
            : "answered: the rest gains more than fused receives");
  }
}
