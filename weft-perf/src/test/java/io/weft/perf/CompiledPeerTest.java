// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.perf.process.PerfException;
import io.weft.perf.process.SearchPath;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class CompiledPeerTest {

  @TempDir private static Path cache;

  private static final SearchPath PATH = SearchPath.ofEnvironment();

  private static MeasuredPeer installed(MeasuredPeer peer, String compiler) {
    assumeTrue(PATH.find(compiler).isPresent(), "there is no " + compiler + " here");
    return peer;
  }

  private static MeasuredPeer gloo() {
    assumeTrue(
        Files.isReadable(Path.of("/usr/include/gloo/allreduce.h")),
        "Gloo's headers are not here: apt-get install libgloo-dev");
    return installed(CompiledPeer.gloo(PATH, cache), "g++");
  }

  private static MeasuredPeer memcpy() {
    return installed(CompiledPeer.memcpy(PATH, cache), "gcc");
  }

  private static MeasuredPeer plainC() {
    return installed(CompiledPeer.plainC(PATH, cache), "gcc");
  }

  private static void measures(MeasuredPeer peer, String reported, MeasuringPlan plan)
      throws InterruptedException {
    RankReport report = peer.prepare(plan).round();
    assertThat(report.peer()).startsWith(reported);
    assertThat(report.samples()).hasSize(plan.cases().size());
    assertThat(report.samples()).allMatch(RankReport.Sample::checked);
    assertThat(report.samples()).allMatch(sample -> sample.latencies().p50Micros() > 0);
  }

  @ParameterizedTest
  @EnumSource(names = {"ALLREDUCE", "PINGPONG", "BANDWIDTH", "MESSAGES"})
  void plainSocketsMeasureWhatATransportDoes(Benchmark benchmark) throws InterruptedException {
    measures(plainC(), "c sockets", Plans.small(benchmark));
  }

  @Test
  void plainSocketsAreTwo() {
    MeasuringPlan three = Plans.of(Benchmark.ALLREDUCE, 3, "8:3");
    assertThatThrownBy(() -> plainC().prepare(three))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("peer c has 2 ranks, not 3");
  }

  @Test
  void processesThatShareMemoryMeasureAllreduce() throws InterruptedException {
    MeasuringPlan two =
        Plans.of(Benchmark.ALLREDUCE, 2, "4:3", "65536:3", "1000004:3", "8388608:2");
    MeasuringPlan three = Plans.of(Benchmark.ALLREDUCE, 3, "4:3", "65540:3", "8388608:2");
    measures(plainC(), "c shared memory", Plans.shared(two));
    measures(plainC(), "c shared memory", Plans.over("shm", two));
    measures(plainC(), "c shared memory", Plans.shared(three));
  }

  @Test
  void plainCIsTakenByTheTransport() throws InterruptedException {
    MeasuringPlan two = Plans.of(Benchmark.ALLREDUCE, 2, "8:3");
    measures(plainC(), "c sockets", two);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> plainC().prepare(Plans.over("verbs", two)))
        .withMessage("peer c has no transport 'verbs'; allowed: tcp, shm");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> plainC().prepare(Plans.shared(Plans.small(Benchmark.MESSAGES))))
        .withMessage("peer c has no messages; it has: allreduce");
    MeasuringPlan three = Plans.over("shm", Plans.of(Benchmark.ALLREDUCE, 3, "8:3"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> plainC().prepare(three))
        .withMessage("peer c has 2 ranks, not 3");
  }

  @ParameterizedTest
  @EnumSource(names = {"ALLREDUCE", "BROADCAST", "ALLGATHER", "ALLTOALL", "BARRIER"})
  void glooMeasuresItsCollectives(Benchmark benchmark) throws InterruptedException {
    measures(gloo(), "gloo ", Plans.small(benchmark));
  }

  @Test
  void glooHasAsManyRanksAsAreAskedFor() throws InterruptedException {
    measures(gloo(), "gloo ", Plans.of(Benchmark.ALLREDUCE, 3, "12:3", "12288:2"));
  }

  @ParameterizedTest
  @EnumSource(names = {"ALLREDUCE", "BANDWIDTH"})
  void oneCoreCopiesAsManyBytes(Benchmark benchmark) throws InterruptedException {
    measures(memcpy(), "memcpy glibc ", Plans.small(benchmark));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          BARRIER   | peer memcpy has no barrier; it has: allreduce, broadcast,
          MESSAGES  | peer memcpy has no messages
          """)
  void whatAPeerDoesNotHaveIsRefused(Benchmark benchmark, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> memcpy().prepare(Plans.small(benchmark)))
        .withMessageContaining(message);
  }

  @Test
  void anotherTransportIsRefused() {
    MeasuringPlan shm = Plans.shared(Plans.small(Benchmark.ALLREDUCE));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> gloo().prepare(shm))
        .withMessage("peer gloo has no transport 'shm'; allowed: tcp");
  }

  @Test
  void moreThanASocketHoldsIsRefusedWithWords() throws InterruptedException {
    MeasuredPeer.Contestant contestant =
        plainC().prepare(Plans.of(Benchmark.MESSAGES, 2, (1 << 20) + ":1"));
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(contestant::round)
        .withMessageContaining("do not fit into a socket buffer");
  }
}
