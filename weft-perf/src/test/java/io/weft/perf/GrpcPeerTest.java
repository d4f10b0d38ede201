// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.perf.report.RankReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class GrpcPeerTest {

  @ParameterizedTest
  @EnumSource(
      names = {"MESSAGES", "SENDRECV"},
      mode = EnumSource.Mode.EXCLUDE)
  void anUnsupportedBenchmarkIsRefused(Benchmark benchmark) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new GrpcPeer().prepare(Plans.small(benchmark)))
        .withMessage("peer grpc has no " + benchmark.label() + "; it has: messages, sendrecv");
  }

  @Test
  void stepsOfTwoProcessesAreMeasuredOnTheRuntimeOfTensorFlow() throws InterruptedException {
    MeasuringPlan plan = Plans.shared(Plans.of(Benchmark.SENDRECV, 2, "0:3:0", "8:5", "4096:3:7"));
    RankReport report = new GrpcPeer().prepare(plan).round();
    assertThat(report.peer()).startsWith("grpc tensorflow 2.");
    assertThat(report.samples()).hasSize(3).allMatch(RankReport.Sample::checked);
    assertThat(report.samples()).allMatch(sample -> sample.numbers().isEmpty());
  }

  @Test
  void sharedMemoryIsRefused() {
    MeasuringPlan shm = Plans.shared(Plans.small(Benchmark.MESSAGES));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new GrpcPeer().prepare(shm))
        .withMessage("peer grpc has no transport 'shm'; allowed: tcp");
  }
}
