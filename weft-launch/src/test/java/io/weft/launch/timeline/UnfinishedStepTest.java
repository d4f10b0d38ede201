// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.agent.Ticker;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.CommException;
import io.weft.telemetry.timeline.RankTimeline;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.testkit.job.LocalJob;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks a rank whose timeline ends in the middle of a step, as a killed rank's does.
@Timeout(60)
class UnfinishedStepTest {

  @TempDir private Path directory;

  private static void meet(Weft weft, String name) throws InterruptedException {
    var unused = weft.communicator().barrier(CollectiveOptions.named(name)).await();
  }

  /// Records two ranks. Rank 1 finishes no step. Rank 0 records its step only if `steps` is true.
  private void record(boolean steps) {
    try (LocalJob job = LocalJob.start(2, WeftConfig.builder().transport("inproc").build())) {
      var unused =
          job.run(
              weft -> {
                try (RankTimeline rank =
                    RankTimeline.open(weft, Ticker.SYSTEM, Optional.of(directory))) {
                  rank.compareClocks();
                  if (weft.rank() == 1) {
                    meet(weft, "step");
                    waitAlone(weft);
                    rank.timeline().span(SpanCategory.INPUT, "later").close();
                    rank.write();
                    return true;
                  }
                  if (steps) {
                    try (var _ = rank.timeline().step(0)) {
                      meet(weft, "step");
                    }
                  } else {
                    meet(weft, "step");
                  }
                  rank.write();
                } catch (IOException unwritable) {
                  throw new UncheckedIOException(unwritable);
                }
                return true;
              });
    }
  }

  /// Waits in an operation that the other rank never submits.
  private static void waitAlone(Weft weft) throws InterruptedException {
    try {
      var unused =
          weft.communicator()
              .barrier(CollectiveOptions.named("alone"))
              .await(Duration.ofMillis(300));
    } catch (CommException.TimedOut expected) {
      assertThat(expected).hasMessageContaining("alone");
    }
  }

  @Test
  void rankWithoutAFinishedStepIsExcludedFromShares() throws IOException {
    record(true);
    JobTimelines job = JobTimelines.in(directory);
    assertThat(job.problems())
        .containsExactly(
            "rank-1.weft-trace: its rank has finished no step; its time counts in no share");
    TimelineReport report = TimelineReport.of(job);
    assertThat(report.byRank().get(1).stepSeconds()).isZero();
    assertThat(report.byRank().get(1).shares().computeShare()).isZero();
    TimelineReport.Shares shares = report.shares().steps();
    assertThat(shares.computeShare() + shares.exposedShare() + shares.waitingShare())
        .isBetween(0.999, 1.001);
    assertThat(report.stepSeconds()).isEqualTo(report.byRank().get(0).stepSeconds());
    assertThat(report.lines()).anyMatch(line -> line.endsWith(": no step was finished"));
  }

  @Test
  void unfinishedOperationCountsAsCommunication() throws IOException {
    record(false);
    TimelineReport report = TimelineReport.of(JobTimelines.in(directory));
    TimelineReport.OfRank waited = report.byRank().get(1);
    assertThat(waited.shares().computeShare()).isLessThan(0.9);
  }

  @Test
  void mergedTraceShowsTheUnfinishedOperation() throws IOException {
    record(true);
    var out = new ByteArrayOutputStream();
    assertThat(ChromeTrace.write(JobTimelines.in(directory), out)).isPositive();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("\"alone\"", "\"end\":\"unfinished\"");
  }
}
