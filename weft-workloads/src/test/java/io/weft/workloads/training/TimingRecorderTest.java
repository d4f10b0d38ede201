// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.telemetry.timeline.Timeline;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TimingRecorderTest {

  // With such long durations, a loaded machine does not distort the comparison of clocks.
  private static final long SECOND = 1_000_000_000;
  private static final long BEGUN = 1_000_000 * SECOND;

  private record Measured(Timing timing, long waitedForRank1) {}

  /// Both steps compute for 10 s, but one begins later, so durations alone do not show the wait.
  @Test
  void aRankWaitsUntilTheLastRankHasSubmitted() {
    List<Measured> measured;
    try (LocalJob ranks = LocalJob.over("inproc", 2)) {
      measured =
          ranks.run(
              weft -> {
                var timeline = new Timeline(() -> 0, Timeline.FEWEST);
                var job = TrainingJob.of(weft, OptionalInt.empty(), timeline);
                var recorder = new TimingRecorder(RankExchange.of(job), job);
                recorder.beginEpoch();
                recorder.add(
                    weft.rank() == 0
                        ? new StepMeter.MeteredStep(BEGUN, 80 * SECOND, 10 * SECOND, 70 * SECOND, 0)
                        : new StepMeter.MeteredStep(
                            BEGUN + 50 * SECOND, 30 * SECOND, 10 * SECOND, 20 * SECOND, 0));
                recorder.endEpoch();
                return new Measured(recorder.result(1), job.goodput().waitingNanos(1));
              });
    }
    assertThat(measured.get(0).waitedForRank1() / 1e9).isCloseTo(50, within(5.0));
    assertThat(measured.get(1).waitedForRank1()).isZero();
    assertThat(measured.get(0).timing().waitSeconds()).isCloseTo(25, within(5.0));
    assertThat(measured.get(0).timing().computeSeconds()).isCloseTo(10, within(0.1));
    assertThat(measured.get(0).timing().steady()).as("of one step").isEmpty();
  }

  @Test
  void stepsOfTheFirstFiveSecondsAreNotSteady() {
    Timing timing;
    try (LocalJob ranks = LocalJob.over("inproc", 1)) {
      timing =
          ranks
              .run(
                  weft -> {
                    var timeline = new Timeline(() -> 0, Timeline.FEWEST);
                    var job = TrainingJob.of(weft, OptionalInt.empty(), timeline);
                    var recorder = new TimingRecorder(RankExchange.of(job), job);
                    recorder.beginEpoch();
                    for (long at : new long[] {0, 4, 5, 6}) {
                      recorder.add(
                          new StepMeter.MeteredStep(
                              BEGUN + at * SECOND, SECOND / (1 + at), SECOND / (1 + at), 0, 0));
                    }
                    recorder.endEpoch();
                    return recorder.result(10);
                  })
              .getFirst();
    }
    assertThat(timing.stepNanos()).hasSize(4);
    assertThat(timing.steady().orElseThrow().stepNanos()).containsExactly(SECOND / 6, SECOND / 7);
  }
}
