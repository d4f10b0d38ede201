// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.Weft;
import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.telemetry.timeline.RankTimeline;
import io.weft.telemetry.timeline.TimelineConfig;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The timeline of a rank that trains, opened before the training and written after it.
final class TrainTimeline {

  private TrainTimeline() {}

  /// Returns the directory on the command line, or else that of the setting.
  static Optional<Path> directory(TrainOptions options, Weft weft) {
    return options.outputs().timeline().or(() -> weft.config().value(TimelineConfig.DIRECTORY));
  }

  /// Throws `BadOption` if the directory cannot be written.
  static RankTimeline open(TrainOptions options, Weft weft) {
    Optional<Path> directory = directory(options, weft);
    try {
      return RankTimeline.open(weft, Ticker.SYSTEM, directory);
    } catch (IOException refused) {
      throw BadOption.of(
          "--timeline",
          directory.map(Path::toString).orElse(""),
          "a directory that rank " + weft.rank() + " can write (" + IoErrors.words(refused) + ")");
    }
  }

  /// Compares the clocks if a file will be written. Collective.
  static void begin(RankTimeline timeline) {
    if (timeline.isKept()) {
      try {
        timeline.compareClocks();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while ranks compare clocks", interrupted);
      }
    }
  }

  /// Compares the clocks again and writes the file. Collective. Throws `ReportFiles.Unwritten` if
  /// the file cannot be written; the training has then completed.
  static void end(RankTimeline timeline) {
    if (!timeline.isKept()) {
      return;
    }
    try {
      begin(timeline);
    } catch (CommException left) {
      // Another rank has left after its training, so the first comparison of the clocks stays.
      assert left.getMessage() != null;
    }
    try {
      timeline.write();
    } catch (IOException refused) {
      throw new ReportFiles.Unwritten(
          List.of("the timeline could not be written: " + IoErrors.words(refused)));
    }
  }
}
