// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StepMeterTest {

  private static final long BEGUN = 1000;

  private long now = BEGUN;
  private final StepMeter meter = new StepMeter(() -> now);

  @Test
  void onlyTimeAfterTheLastSubmissionIsExposed() {
    meter.begin();
    submit("a", 10);
    submit("b", 20);
    end("b", 25, null);
    end("a", 40, null);
    now = 1050;
    assertThat(meter.end(OptionalLong.empty()))
        .isEqualTo(new StepMeter.MeteredStep(BEGUN, 50, 20, 20, 30));
  }

  @Test
  void communicationThatEndsBeforeTheNextBeginsIsHidden() {
    meter.begin();
    submit("a", 10);
    end("a", 15, null);
    submit("b", 30);
    end("b", 32, null);
    now = 1040;
    assertThat(meter.end(OptionalLong.empty()))
        .isEqualTo(new StepMeter.MeteredStep(BEGUN, 40, 30, 2, 7));
  }

  @Test
  void waitingForTheRoundOfALayerIsExposed() {
    meter.begin();
    submit("fusion", 30);
    end("fusion", 40, null);
    now = 1045;
    assertThat(meter.end(OptionalLong.of(BEGUN + 12)))
        .isEqualTo(new StepMeter.MeteredStep(BEGUN, 45, 12, 28, 10));
    meter.begin();
    now = 1060;
    assertThat(meter.end(OptionalLong.of(BEGUN + 12)))
        .isEqualTo(new StepMeter.MeteredStep(1045, 15, 15, 0, 0));
  }

  @Test
  void aStepWithoutCollectivesIsReadyAtItsEnd() {
    meter.begin();
    now = 1009;
    assertThat(meter.end(OptionalLong.empty()))
        .isEqualTo(new StepMeter.MeteredStep(BEGUN, 9, 9, 0, 0));
  }

  private void submit(String name, long nanos) {
    meter.submitted(new Collective(name, 1000 + nanos));
  }

  private void end(String name, long nanos, @Nullable CommException cause) {
    meter.ended(new Collective(name, 0), cause, 1000 + nanos);
  }

  private record Collective(String name, long submittedNanos) implements ObservedOperation {
    @Override
    public Service service() {
      return Service.COLLECTIVE;
    }

    @Override
    public long id() {
      return name.hashCode();
    }

    @Override
    public long communicator() {
      return 7;
    }

    @Override
    public String words() {
      return "allreduce";
    }

    @Override
    public int sequence() {
      return 0;
    }

    @Override
    public long bytes() {
      return 4;
    }

    @Override
    public int lastHeard() {
      return -1;
    }

    @Override
    public List<Integer> awaited() {
      return List.of();
    }

    @Override
    public List<Integer> unsubmitted() {
      return List.of();
    }
  }
}
