// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class GoodputTest {

  @Test
  void timesOfRanksAreAddedAndDividedByTheRanks() {
    var first = new GoodputMeter(2);
    first.start(1_000_000_000L);
    first.start(9_000_000_000L);
    first.step(4_000_000_000L, 1_500_000_000L, 500_000_000L);
    first.addWaiting(1, 1_000_000_000L);
    first.add(TimeUse.CHECKPOINT, 250_000_000L);
    var second = new GoodputMeter(2);
    second.start(1_000_000_000L);
    second.step(4_000_000_000L, 500_000_000L, -7);
    second.add(TimeUse.EVALUATION, 500_000_000L);
    double[] sums = first.nanos();
    double[] more = second.nanos();
    for (int i = 0; i < sums.length; i++) {
      sums[i] += more[i];
    }
    Goodput goodput = Goodput.ofSums(sums, 12e9, 2);
    assertThat(goodput.wallSeconds()).isEqualTo(6);
    assertThat(goodput.startUpSeconds()).isEqualTo(1);
    assertThat(goodput.computeSeconds()).isCloseTo(2.75, within(1e-6));
    assertThat(goodput.waitingSeconds()).isEqualTo(Map.of(1, 0.5));
    assertThat(goodput.exposedSeconds()).isCloseTo(0.5, within(1e-6));
    assertThat(goodput.inputSeconds()).isCloseTo(0.25, within(1e-6));
    assertThat(goodput.checkpointSeconds()).isEqualTo(0.125);
    assertThat(goodput.evaluationSeconds()).isEqualTo(0.25);
    assertThat(goodput.otherSeconds()).isCloseTo(0.625, within(1e-6));
    assertThat(goodput.share()).isCloseTo(2.75 / 6, within(1e-6));
    assertThat(first.steps()).isEqualTo(1);
  }

  @Test
  void partsAddUpToTheWhole() {
    var random = new Random(7);
    for (int round = 0; round < 200; round++) {
      var meter = new GoodputMeter(3);
      double total = 0;
      meter.start(random.nextInt(1000));
      for (int step = 0; step < 20; step++) {
        // Parts overlap, clocks go back, and a part may be longer than its step.
        int length = random.nextInt(1000);
        int exposed = random.nextInt(-50, 1100);
        meter.step(length, exposed, random.nextInt(-50, 1100));
        meter.addWaiting(random.nextInt(3), random.nextInt(1 + Math.max(0, exposed)));
        total += length;
      }
      long inSteps =
          meter.nanos(TimeUse.COMPUTE)
              + meter.nanos(TimeUse.COMMUNICATION)
              + meter.nanos(TimeUse.INPUT);
      assertThat((double) inSteps).as("round %d", round).isEqualTo(total);
      Goodput goodput = Goodput.ofSums(meter.nanos(), total + random.nextInt(3000), 1);
      double waiting =
          goodput.waitingSeconds().values().stream().mapToDouble(seconds -> seconds).sum();
      double sum =
          goodput.startUpSeconds()
              + goodput.computeSeconds()
              + goodput.exposedSeconds()
              + waiting
              + goodput.inputSeconds()
              + goodput.checkpointSeconds()
              + goodput.evaluationSeconds()
              + goodput.otherSeconds();
      assertThat(sum).as("round %d", round).isCloseTo(goodput.wallSeconds(), within(1e-12));
      assertThat(goodput.otherSeconds()).isNotNegative();
    }
  }

  @Test
  void addressIsHostAndPort() {
    assertThat(MetricsAddress.parse("9400")).isEqualTo(new MetricsAddress("127.0.0.1", 9400));
    assertThat(MetricsAddress.parse("[::1]:80")).hasToString("[::1]:80");
    assertThat(MetricsAddress.parse("node7:80").of(3)).isEqualTo(new MetricsAddress("node7", 83));
    for (String wrong :
        new String[] {"", ":80", "node7", "node7:x", "::1:80", "node7:0", "a:65536"}) {
      assertThatThrownBy(() -> MetricsAddress.parse(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("must be HOST:PORT");
    }
    assertThatThrownBy(() -> new MetricsAddress("a", 65535).of(1))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
