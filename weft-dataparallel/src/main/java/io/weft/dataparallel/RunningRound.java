// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.dataparallel.frame.ReportFormat;
import io.weft.dataparallel.frame.RoundReport;
import io.weft.dataparallel.negotiation.Round;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// A negotiation round in flight. The ranks combine a vector, and exchange reports if the vector
/// requests them. Confined to the thread that runs the layer.
final class RunningRound {

  private final Communicator communicator;
  private final Round brought;
  private final Handle<TensorView> vector;
  private final CollectiveOptions reportOptions;
  private final Runnable onDone;
  private @Nullable Handle<TensorLease> reports;
  private byte[] combined = {};

  /// @param brought the contribution of this rank
  /// @param vector the handle of the combined vector
  /// @param reportOptions options of the exchange of reports
  /// @param onDone called on any thread when the round may advance
  RunningRound(
      Communicator communicator,
      Round brought,
      Handle<TensorView> vector,
      CollectiveOptions reportOptions,
      Runnable onDone) {
    this.communicator = communicator;
    this.brought = brought;
    this.vector = vector;
    this.reportOptions = reportOptions;
    this.onDone = onDone;
    vector.whenDone((result, cause) -> onDone.run());
  }

  /// Returns the vector of all ranks, after it is combined.
  byte[] combined() {
    return combined;
  }

  /// Advances the round without waiting. Returns the reports of all ranks, an empty list if the
  /// vector requests no reports, or null while the round is in flight. Throws the cause if the
  /// communicator has failed.
  ///
  /// @param describe returns a rank of the communicator in words
  @Nullable List<RoundReport> advance(IntFunction<String> describe) throws InterruptedException {
    Handle<TensorLease> exchanged = reports;
    if (exchanged == null && vector.isDone()) {
      combined = vector.await().data().toArray(ValueLayout.JAVA_BYTE);
      if (!Round.exchangesReports(combined)) {
        return List.of();
      }
      byte[] bytes = ReportFormat.encode(brought.report());
      Handle<TensorLease> begun = RankBytes.exchange(communicator, bytes, reportOptions);
      begun.whenDone((result, cause) -> onDone.run());
      reports = begun;
    } else if (exchanged != null && exchanged.isDone()) {
      try (TensorLease all = exchanged.await()) {
        return decode(all.view().data(), describe);
      }
    }
    return null;
  }

  private List<RoundReport> decode(MemorySegment all, IntFunction<String> describe) {
    List<RoundReport> decoded = new ArrayList<>();
    for (byte[] row : RankBytes.rows(all, communicator.size(), describe)) {
      try {
        decoded.add(ReportFormat.decode(row));
      } catch (IllegalArgumentException e) {
        throw new IllegalStateException(
            "report of " + describe.apply(decoded.size()) + " cannot be read: " + e.getMessage(),
            e);
      }
    }
    return decoded;
  }
}
