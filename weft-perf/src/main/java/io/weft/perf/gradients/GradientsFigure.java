// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.perf.report.BenchmarkHost;
import io.weft.transport.limit.Span;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One setting's figures: one JSON object of the report. `stepMicros` is the median of all steps,
/// each as long as its slowest rank; `exposedMicros` what of it is not computing; `efficiency` the
/// part that is, absent where nothing computes. A simulated figure has no host.
///
/// @param benchmark always "gradients"
/// @param peer "weft", or who reduces each tensor by itself beside it
/// @param tensors of a step
/// @param bytes of all of them together
/// @param fusion whether tensors share buffers; absent for a peer
/// @param gbit of the link between the ranks, in gigabits a second; absent on one host
/// @param computeMicros of forward and backward pass together
/// @param bytesPerStep sent by rank 0, payload and protocol, and read and written in mapped memory;
///   absent for a peer and where it is simulated
/// @param collectivesPerStep of rank 0: with fusion those of buffers and of negotiation; absent
///   likewise
/// @param checked whether all averages were compared and right; absent where nothing was moved
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GradientsFigure(
    String benchmark,
    String peer,
    String model,
    int tensors,
    long bytes,
    @Nullable Boolean fusion,
    int ranks,
    String transport,
    @Nullable Double gbit,
    double computeMicros,
    double stepMicros,
    double exposedMicros,
    @Nullable Double efficiency,
    @Nullable Double bytesPerStep,
    @Nullable Double collectivesPerStep,
    boolean simulated,
    @Nullable Boolean checked,
    @Nullable BenchmarkHost host) {

  private static final String BENCHMARK = "gradients";

  /// What was measured over all rounds.
  ///
  /// @param fusion empty: of a peer
  static GradientsFigure measured(
      String peer,
      GradientModel model,
      Optional<Boolean> fusion,
      Carrier carrier,
      Steps steps,
      BenchmarkHost host) {
    List<Long> sorted = steps.nanos().stream().sorted().toList();
    double step = sorted.get(sorted.size() / 2) / 1e3;
    return of(peer, model, fusion.orElse(null), carrier, step, steps, host);
  }

  /// What was timed.
  ///
  /// @param nanos of each step
  /// @param traffic of a step; empty where it was not counted
  /// @param checked whether all averages were right
  record Steps(List<Long> nanos, Optional<StepTraffic> traffic, boolean checked) {}

  /// What was simulated.
  static GradientsFigure simulated(
      GradientModel model, boolean fusion, Carrier carrier, double stepMicros) {
    return of("weft", model, fusion, carrier, stepMicros, null, null);
  }

  private static GradientsFigure of(
      String peer,
      GradientModel model,
      @Nullable Boolean fusion,
      Carrier carrier,
      double step,
      @Nullable Steps steps,
      @Nullable BenchmarkHost host) {
    StepTraffic traffic = steps == null ? null : steps.traffic().orElse(null);
    double compute = Span.nanos(model.forward().plus(model.backward())) / 1e3;
    return new GradientsFigure(
        BENCHMARK,
        peer,
        model.name(),
        model.gradients().size(),
        model.bytes(),
        fusion,
        carrier.ranks(),
        carrier.transport(),
        carrier.gbit(),
        compute,
        tenths(step),
        tenths(Math.max(0, step - compute)),
        compute == 0 ? null : Math.round(1e4 * compute / step) / 1e4,
        traffic == null ? null : tenths(traffic.bytes()),
        traffic == null ? null : tenths(traffic.collectives()),
        host == null,
        steps == null ? null : steps.checked(),
        host);
  }

  private static double tenths(double value) {
    return Math.round(10 * value) / 10.0;
  }

  /// Between whom the gradients go.
  ///
  /// @param ranks that average
  /// @param transport that carries the bytes
  /// @param gbit of the link, in gigabits a second; null on one host
  public record Carrier(int ranks, String transport, @Nullable Double gbit) {}
}
