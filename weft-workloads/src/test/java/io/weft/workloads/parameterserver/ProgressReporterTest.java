// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.training.Shrink;
import io.weft.workloads.training.TrainingObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ProgressReporterTest {

  private static final TrainingObserver.Start START =
      new TrainingObserver.Start("digits", 10, 100, 5, 0);
  private static final TrainingObserver.TrainedStep STEP =
      new TrainingObserver.TrainedStep(1, 2, 0.5, 0.1);
  private static final TrainingObserver.TrainedEpoch EPOCH =
      new TrainingObserver.TrainedEpoch(1, 0.5, Double.NaN);

  private final List<Object> heard = new ArrayList<>();
  private final AtomicBoolean lowest = new AtomicBoolean();
  private final ProgressReporter reporter =
      new ProgressReporter(new RecordingObserver(), lowest::get);

  @Test
  void aWorkerThatBecomesTheLowestReportsFromTheStart() {
    reporter.onStart(START);
    reporter.onStep(STEP);
    reporter.onEpoch(EPOCH);
    assertThat(heard).isEmpty();
    lowest.set(true);
    reporter.onStep(STEP);
    reporter.onEpoch(EPOCH);
    assertThat(heard).containsExactly(START, STEP, EPOCH);
  }

  @Test
  void theLowestWorkerReportsAtOnce() {
    lowest.set(true);
    reporter.onStart(START);
    assertThat(heard).containsExactly(START);
    reporter.onStep(STEP);
    assertThat(heard).containsExactly(START, STEP);
  }

  private final class RecordingObserver implements TrainingObserver {

    @Override
    public void onStart(Start start) {
      heard.add(start);
    }

    @Override
    public void onStep(TrainedStep step) {
      heard.add(step);
    }

    @Override
    public void onUnsaved(String why) {
      heard.add(why);
    }

    @Override
    public void onShrink(Shrink shrink, String why) {
      heard.add(shrink);
    }

    @Override
    public void onEpoch(TrainedEpoch epoch) {
      heard.add(epoch);
    }
  }
}
