// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.experiment.ContestantRounds;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.report.Figure;
import io.weft.perf.report.Panel;
import io.weft.perf.report.RankReport.Sample;
import io.weft.workloads.report.MeasuredHost;
import io.weft.workloads.report.Picture;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// The figures of one contestant for one size over all rounds.
///
/// - Latencies are medians of the rounds' figures. `minMicros` is the minimum of all rounds, and
///   `roundP50Micros` lists the rounds' medians.
/// - `roundHandoverNanos` lists the time that a cache line took between processors and back before
///   the timed part of each round. It is absent without two processors.
/// - `roundsMoved` is the number of rounds that were discarded because this time exceeded the
///   limit. It is absent without a limit.
/// - Bandwidths follow from `p50Micros`, in 10^9 bytes per second. `iterations` is the number per
///   round.
/// - `messagesPerSecond` counts answered requests. `outstanding` is the number of requests, writes
///   or reads in flight.
/// - `memory` is the memory of the tensors. `tensors` is the number of tensors of `bytes` in a step
///   of `sendrecv`, and `requestsPerStep` the number of messages that request them.
/// - `oneSidedShare` is the share of the bytes of longer tensors that a device has moved between
///   both memories directly, 1 if there are none, `copiesPerByte` how often each byte was copied
///   into registered memory.
/// - `registered` is rank 0's registered memory in an average round of `registration`.
final class PerfFigures {
  /// The name of Weft as a contestant.
  static final String WEFT = "weft";

  private PerfFigures() {}

  /// The handovers of a cache line in a contestant's rounds, see `roundHandoverNanos` and
  /// `roundsMoved`.
  record Handovers(@Nullable List<Integer> nanos, @Nullable Integer moved) {}

  /// Summarizes the samples of one contestant's rounds for one case.
  static Figure of(
      MeasuringPlan plan,
      RankCase one,
      String peer,
      List<Sample> samples,
      Handovers handovers,
      MeasuredHost host) {
    Benchmark benchmark = plan.benchmark();
    List<Latencies> rounds =
        samples.stream().map(each -> Latencies.of(each, benchmark.callsPerIteration())).toList();
    Latencies latencies = Latencies.over(rounds);
    boolean isWeft = peer.equals(WEFT) || peer.equals(WeftPeer.EACH_TIME);
    double p50 = latencies.p50Micros();
    double gigabytes = one.bytes() * one.tensors() / 1e3 / Math.max(p50, 1e-3);
    return Figure.of(benchmark.label())
        .with("peer", peer)
        .with("transport", plan.transport())
        .with("ranks", plan.ranks())
        .with("bytes", one.bytes())
        .with("iterations", one.iterations())
        .with("rounds", samples.size())
        .with("p50Micros", Figure.rounded(p50))
        .with("p99Micros", Figure.rounded(latencies.p99Micros()))
        .with("minMicros", Figure.rounded(latencies.minMicros()))
        .with("meanMicros", Figure.rounded(latencies.meanMicros()))
        .with("gigabytesPerSecond", Figure.rounded(gigabytes))
        .with(
            "busGigabytesPerSecond", Figure.rounded(gigabytes * benchmark.busFactor(plan.ranks())))
        .with(
            "messagesPerSecond",
            benchmark == Benchmark.MESSAGES ? Figure.rounded(1e6 / Math.max(p50, 1e-6)) : null)
        .with("outstanding", benchmark.isStream() ? plan.outstanding() : null)
        .with("tensors", benchmark == Benchmark.SENDRECV ? one.tensors() : null)
        .with("requestsPerStep", median(samples, "requests"))
        .with("oneSidedShare", median(samples, "oneSidedShare"))
        .with("copiesPerByte", median(samples, "copiesPerByte"))
        .with("registrationsPerStep", median(samples, "registrationsPerStep"))
        .with("registered", registered(samples))
        .with("memory", (isWeft ? plan.memory() : TensorMemory.PRIVATE).label())
        .with(
            "roundP50Micros",
            rounds.stream().map(each -> Figure.rounded(each.p50Micros())).toList())
        .with("roundHandoverNanos", handovers.nanos())
        .with("roundsMoved", handovers.moved())
        .with("checked", ContestantRounds.allRight(samples))
        .with("host", host);
  }

  private static boolean haveAll(List<Sample> samples, String name) {
    return samples.stream().allMatch(each -> each.numbers().containsKey(name));
  }

  /// Returns the median of the rounds, null if a round has no count.
  private static @Nullable Double median(List<Sample> samples, String name) {
    return haveAll(samples, name)
        ? Figure.rounded(Figure.median(samples.stream().map(each -> each.number(name)).toList()))
        : null;
  }

  /// Returns the mean of the rounds, null if a round has no count.
  private static @Nullable Figure registered(List<Sample> samples) {
    return haveAll(samples, "registrations")
        ? new Figure(Map.of("calls", (long) mean(samples, "registrations")))
            .with("bytes", (long) mean(samples, "registeredBytes"))
            .with("micros", Figure.rounded(mean(samples, "registeringNanos") / 1e3))
        : null;
  }

  private static double mean(List<Sample> samples, String name) {
    return samples.stream().mapToDouble(each -> each.number(name)).average().orElseThrow();
  }

  /// Returns the case in words: the size, and for `sendrecv` the number of tensors.
  static String size(Figure figure) {
    String each = ByteSizes.format((long) figure.number("bytes"));
    if (!figure.has("tensors")) {
      return each;
    }
    return figure.number("tensors") == 0 ? "empty step" : figure.text("tensors") + " x " + each;
  }

  /// Returns latency and bus bandwidth (or messages per second) over size. Each contestant has a
  /// curve, for `sendrecv` with each number of tensors.
  static Picture picture(List<Figure> figures) {
    Figure first = figures.getFirst();
    String what =
        "%s, %s ranks, %s"
            .formatted(first.text("benchmark"), first.text("ranks"), first.text("transport"));
    if (Benchmark.of(first.text("benchmark")).isCollective()) {
      what += ", " + first.text("memory") + " tensors";
    }
    List<Figure> drawn = figures.stream().filter(each -> each.number("tensors", 1) != 0).toList();
    Panel latency =
        panel(what + ": latency", "p50, microseconds", false, drawn, f -> f.number("p50Micros"));
    List<Panel> panels = List.of(latency);
    if (first.has("messagesPerSecond")) {
      panels =
          List.of(
              latency,
              panel(
                  what + ": rate",
                  "messages / s",
                  true,
                  drawn,
                  each -> each.number("messagesPerSecond")));
    } else if (figures.stream().anyMatch(each -> each.number("busGigabytesPerSecond") > 0)) {
      panels =
          List.of(
              latency,
              panel(
                  what + ": bus bandwidth",
                  "GB/s",
                  true,
                  drawn,
                  each -> each.number("busGigabytesPerSecond")));
    }
    String rounds =
        first.number("rounds") == 1
            ? "one round"
            : "medians of %s interleaved rounds".formatted(first.text("rounds"));
    return Panel.picture(panels, ((MeasuredHost) first.value("host")).words() + "; " + rounds);
  }

  private static Panel panel(
      String title,
      String axis,
      boolean isRising,
      List<Figure> drawn,
      ToDoubleFunction<Figure> number) {
    return new Panel(
        title,
        "bytes",
        axis,
        isRising,
        Panel.curves(
            drawn,
            each ->
                each.text("peer")
                    + (each.has("tensors") ? ", %s tensors".formatted(each.text("tensors")) : ""),
            each -> each.number("bytes"),
            number));
  }
}
