// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.perf.report.BenchmarkHost;
import io.weft.transport.limit.ClampedDuration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The figures of one setting: one JSON object of the report. `stepMicros` is the median step time,
/// where the time of a step is that of its slowest rank. `exposedMicros` is `stepMicros` minus
/// `computeMicros`, at least 0. `efficiency` is `computeMicros / stepMicros`, absent for a model
/// that computes nothing. A simulated figure has no host.
///
/// @param benchmark always "gradients"
/// @param peer "weft", or the name of the system compared with it, which reduces each tensor
///   separately
/// @param tensors number of tensors of a step
/// @param bytes size of all tensors together
/// @param fusion true if tensors share buffers, absent for a peer
/// @param gbit speed of the link between the ranks in gigabits a second, absent on one host
/// @param computeMicros time of forward and backward pass together
/// @param bytesPerStep bytes that rank 0 sends, payload and protocol, and reads and writes in
///   mapped memory; absent for a peer and in a simulation
/// @param collectivesPerStep mean number of rank 0's collectives; with fusion, those of fusion
///   buffers and of negotiation; absent for a peer and in a simulation
/// @param checked true if all averages were compared and right, absent without transfers
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

  /// Summarizes the measurements of all rounds.
  ///
  /// @param fusion the setting of fusion, empty for a peer
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

  /// The timed steps.
  ///
  /// @param nanos time of each step
  /// @param traffic traffic of a step, empty if not counted
  /// @param checked true if all averages were right
  record Steps(List<Long> nanos, Optional<StepTraffic> traffic, boolean checked) {}

  /// Creates a simulated figure.
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
    double compute = ClampedDuration.nanos(model.forward().plus(model.backward())) / 1e3;
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

  /// The ranks that exchange gradients, and their link.
  ///
  /// @param ranks number of ranks
  /// @param transport transport of the bytes
  /// @param gbit speed of the link in gigabits a second, null on one host
  public record Carrier(int ranks, String transport, @Nullable Double gbit) {}
}
