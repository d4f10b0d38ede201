// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.training.Observer;
import io.weft.workloads.training.Shrink;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class SpeakerTest {

  private static final Observer.Start START = new Observer.Start("digits", 10, 100, 5, 0);
  private static final Observer.Step STEP = new Observer.Step(1, 2, 0.5, 0.1);
  private static final Observer.Epoch EPOCH = new Observer.Epoch(1, 0.5, Double.NaN);

  private final List<Object> heard = new ArrayList<>();
  private final AtomicBoolean lowest = new AtomicBoolean();
  private final Speaker speaker = new Speaker(new Listener(), lowest::get);

  @Test
  void workerThatBecomesTheLowestBeginsAtTheBeginning() {
    speaker.onStart(START);
    speaker.onStep(STEP);
    speaker.onEpoch(EPOCH);
    assertThat(heard).isEmpty();
    lowest.set(true);
    speaker.onStep(STEP);
    speaker.onEpoch(EPOCH);
    assertThat(heard).containsExactly(START, STEP, EPOCH);
  }

  @Test
  void lowestTellsAtOnce() {
    lowest.set(true);
    speaker.onStart(START);
    assertThat(heard).containsExactly(START);
    speaker.onStep(STEP);
    assertThat(heard).containsExactly(START, STEP);
  }

  private final class Listener implements Observer {

    @Override
    public void onStart(Start start) {
      heard.add(start);
    }

    @Override
    public void onStep(Step step) {
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
    public void onEpoch(Epoch epoch) {
      heard.add(epoch);
    }
  }
}
