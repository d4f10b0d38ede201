// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.perf.process.PerfException;
import io.weft.perf.process.SearchPath;
import io.weft.perf.report.RankReport;
import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class CompiledPeerTest {

  @TempDir private static Path cache;

  private static final SearchPath PATH = SearchPath.ofEnvironment();

  private static MeasuredPeer gloo() {
    return CompiledPeer.gloo(PATH, cache);
  }

  private static MeasuredPeer memcpy() {
    return CompiledPeer.memcpy(PATH, cache);
  }

  private static MeasuredPeer plainC() {
    return CompiledPeer.plainC(PATH, cache);
  }

  private static void measures(MeasuredPeer peer, String reported, MeasuringPlan plan)
      throws InterruptedException {
    RankReport report = peer.prepare(plan).round();
    assertThat(report.peer()).startsWith(reported);
    assertThat(report.samples()).hasSize(plan.cases().size());
    assertThat(report.samples()).allMatch(RankReport.Sample::checked);
    assertThat(report.samples()).allMatch(sample -> Latencies.of(sample, 1).p50Micros() > 0);
  }

  @ParameterizedTest
  @EnumSource(names = {"ALLREDUCE", "PINGPONG", "BANDWIDTH", "MESSAGES"})
  @Needs(OptionalProgram.GCC)
  void plainSocketsMeasureTheBenchmarksOfATransport(Benchmark benchmark)
      throws InterruptedException {
    measures(plainC(), "c sockets", Plans.small(benchmark));
  }

  @Test
  void plainSocketsHaveTwoRanks() {
    MeasuringPlan three = Plans.of(Benchmark.ALLREDUCE, 3, "8:3");
    assertThatThrownBy(() -> plainC().prepare(three))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("peer c has 2 ranks, not 3");
  }

  @Test
  @Needs(OptionalProgram.GCC)
  void processesThatShareMemoryMeasureAllreduce() throws InterruptedException {
    MeasuringPlan two =
        Plans.of(Benchmark.ALLREDUCE, 2, "4:3", "65536:3", "1000004:3", "8388608:2");
    MeasuringPlan three = Plans.of(Benchmark.ALLREDUCE, 3, "4:3", "65540:3", "8388608:2");
    measures(plainC(), "c shared memory", Plans.shared(two));
    measures(plainC(), "c shared memory", Plans.over("shm", two));
    measures(plainC(), "c shared memory", Plans.shared(three));
  }

  @Test
  @Needs(OptionalProgram.GCC)
  void theTransportSelectsTheProgramInPlainC() throws InterruptedException {
    measures(plainC(), "c sockets", Plans.of(Benchmark.ALLREDUCE, 2, "8:3"));
  }

  @Test
  void plainCRefusesUnsupportedCases() {
    MeasuringPlan two = Plans.of(Benchmark.ALLREDUCE, 2, "8:3");
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
  @Needs(OptionalProgram.GLOO)
  void glooMeasuresItsCollectives(Benchmark benchmark) throws InterruptedException {
    measures(gloo(), "gloo ", Plans.small(benchmark));
  }

  @Test
  @Needs(OptionalProgram.GLOO)
  void glooRunsTheRequestedNumberOfRanks() throws InterruptedException {
    measures(gloo(), "gloo ", Plans.of(Benchmark.ALLREDUCE, 3, "12:3", "12288:2"));
  }

  @ParameterizedTest
  @EnumSource(names = {"ALLREDUCE", "BANDWIDTH"})
  @Needs(OptionalProgram.GCC)
  void memcpyMeasuresCopiesOnOneCore(Benchmark benchmark) throws InterruptedException {
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
  void anUnsupportedBenchmarkIsRefused(Benchmark benchmark, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> memcpy().prepare(Plans.small(benchmark)))
        .withMessageContaining(message);
  }

  @Test
  void aCompilerWithoutTheLibraryIsReportedWithItsMessage(@TempDir Path bin) throws IOException {
    Path compiler = bin.resolve("g++");
    Files.writeString(
        compiler, "#!/bin/sh\necho 'fatal error: gloo/allreduce.h: No such file' >&2\nexit 1\n");
    Files.setPosixFilePermissions(compiler, PosixFilePermissions.fromString("rwx------"));
    MeasuredPeer gloo = CompiledPeer.gloo(new SearchPath(List.of(bin)), bin.resolve("cache"));
    assertThatExceptionOfType(PerfException.Missing.class)
        .isThrownBy(() -> gloo.prepare(Plans.small(Benchmark.ALLREDUCE)))
        .withMessageStartingWith(
            "peer gloo: %s cannot compile its program gloo.cc, so a part of it is not installed;"
                + " install it: apt-get install libgloo-dev g++",
            compiler)
        .withMessageContaining("gloo/allreduce.h: No such file");
  }

  @Test
  void anotherTransportIsRefused() {
    MeasuringPlan shm = Plans.shared(Plans.small(Benchmark.ALLREDUCE));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> gloo().prepare(shm))
        .withMessage("peer gloo has no transport 'shm'; allowed: tcp");
  }

  @Test
  @Needs(OptionalProgram.GCC)
  void messagesBeyondTheSocketBufferAreRefused() throws InterruptedException {
    MeasuredPeer.Prepared contestant =
        plainC().prepare(Plans.of(Benchmark.MESSAGES, 2, (1 << 20) + ":1"));
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(contestant::round)
        .withMessageContaining("do not fit into a socket buffer");
  }
}
