// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.CommException;
import org.junit.jupiter.api.Test;

class StepMeterTest {

  private long now = 1000;
  private final StepMeter meter = new StepMeter(() -> now);

  @Test
  void onlyTimeAfterTheLastSubmissionIsExposed() {
    meter.begin();
    at(10).submitted("a");
    at(20).submitted("b");
    at(25).done("b", null);
    at(40).done("a", null);
    now = 1050;
    assertThat(meter.end()).isEqualTo(new StepMeter.Step(50, 20, 20, 30));
  }

  @Test
  void communicationThatEndsBeforeTheNextBeginsIsHidden() {
    meter.begin();
    at(10).submitted("a");
    at(15).done("a", null);
    at(30).submitted("b");
    at(32).done("b", null);
    now = 1040;
    assertThat(meter.end()).isEqualTo(new StepMeter.Step(40, 30, 2, 7));
  }

  @Test
  void aStepWithoutCollectivesIsReadyAtItsEnd() {
    meter.begin();
    now = 1009;
    assertThat(meter.end()).isEqualTo(new StepMeter.Step(9, 9, 0, 0));
  }

  @Test
  void theFirstFailureIsKept() {
    meter.begin();
    meter.submitted("a");
    meter.submitted("b");
    var lost = new CommException.PeerLost("rank 1 on here is gone", 1, null);
    meter.done("b", lost);
    meter.done("a", new CommException.Aborted("second", null));
    assertThat(meter.failure()).contains(lost);
  }

  private StepMeter at(long nanos) {
    now = 1000 + nanos;
    return meter;
  }
}
