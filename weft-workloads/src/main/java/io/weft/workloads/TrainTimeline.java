// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.Weft;
import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.dataparallel.timeline.RankTimeline;
import io.weft.dataparallel.timeline.TimelineConfig;
import io.weft.transport.limit.Refusal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The timeline of a rank that trains: opened before the training and written behind it.
final class TrainTimeline {

  private TrainTimeline() {}

  /// Where it goes: what the command line says, else the setting.
  static Optional<Path> directory(TrainOptions options, Weft weft) {
    return options.timeline().or(() -> weft.config().value(TimelineConfig.DIRECTORY));
  }

  /// Throws `BadOption` where the directory cannot be written.
  static RankTimeline open(TrainOptions options, Weft weft) {
    Optional<Path> directory = directory(options, weft);
    try {
      return RankTimeline.open(weft, Ticker.SYSTEM, directory);
    } catch (IOException refused) {
      throw BadOption.of(
          "--timeline",
          directory.map(Path::toString).orElse(""),
          "a directory that rank " + weft.rank() + " can write (" + Refusal.words(refused) + ")");
    }
  }

  /// Compares the clocks, where there will be a file. Collective.
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

  /// Compares the clocks once more and writes the file. Collective. Throws `ReportFiles.Unwritten`
  /// where it cannot be written; the training is done by then.
  static void end(RankTimeline timeline) {
    if (!timeline.isKept()) {
      return;
    }
    try {
      begin(timeline);
    } catch (CommException left) {
      // Another rank has gone after its training: then the clocks as they were at the beginning do.
      assert left.getMessage() != null;
    }
    try {
      timeline.write();
    } catch (IOException refused) {
      throw new ReportFiles.Unwritten(
          List.of("the timeline is not written: " + Refusal.words(refused)));
    }
  }
}
