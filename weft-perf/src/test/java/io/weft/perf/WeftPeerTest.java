// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.cluster.SecureMode;
import io.weft.perf.process.PerfException;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.report.RankReport;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

final class WeftPeerTest {

  @ParameterizedTest
  @EnumSource(value = Benchmark.class, mode = EnumSource.Mode.EXCLUDE, names = "ALLREDUCE")
  void everyOtherBenchmarkIsMeasuredAndChecked(Benchmark benchmark) throws InterruptedException {
    MeasuringPlan plan = Plans.small(benchmark);
    RankReport report = new WeftPeer().prepare(plan).round();
    assertThat(report.peer()).isEqualTo("weft");
    assertThat(report.samples()).hasSize(plan.cases().size());
    assertThat(report.samples()).allMatch(RankReport.Sample::checked);
  }

  @Test
  void tensorsMayUseMemoryThatWeftAllocates() throws InterruptedException {
    MeasuringPlan apart = Plans.of(Benchmark.ALLREDUCE, 2, "4:3", "1048576:2");
    MeasuringPlan plan =
        new MeasuringPlan(
            apart.benchmark(),
            apart.link(),
            TensorMemory.OWN,
            apart.outstanding(),
            apart.ranks(),
            apart.cases(),
            apart.warmUp(),
            apart.limit());
    assertThat(plan.arguments()).startsWith("allreduce:own");
    RankReport report = new WeftPeer().prepare(plan).round();
    assertThat(report.samples()).hasSize(2).allMatch(RankReport.Sample::checked);
  }

  @Test
  void theDefaultMemorySuitsTheTransport() {
    assertThat(WeftPeer.usualMemory("inproc")).isEqualTo(TensorMemory.OWN);
    assertThat(WeftPeer.usualMemory("tcp")).isEqualTo(TensorMemory.PRIVATE);
  }

  @Test
  void allreduceIsMeasuredOverSharedMemory() throws InterruptedException {
    measureInSharedMemory(Benchmark.ALLREDUCE);
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource(names = {"PINGPONG", "MESSAGES", "SENDRECV"})
  void otherBenchmarksAreMeasuredOverSharedMemory(Benchmark benchmark) throws InterruptedException {
    measureInSharedMemory(benchmark);
  }

  private static void measureInSharedMemory(Benchmark benchmark) throws InterruptedException {
    assumeTrue(WeftPeer.sharesMemory("shm"), "shared memory cannot be used here");
    MeasuringPlan plan = Plans.shared(Plans.small(benchmark));
    RankReport report = new WeftPeer().prepare(plan).round();
    assertThat(report.samples()).hasSize(3).allMatch(RankReport.Sample::checked);
  }

  @Test
  void encryptedRanksGetRightResults() throws InterruptedException {
    MeasuringPlan open = Plans.of(Benchmark.ALLREDUCE, 2, "65536:5");
    MeasuringPlan plan =
        new MeasuringPlan(
            open.benchmark(),
            new MeasuringPlan.Link(open.transport(), SecureMode.ON),
            open.memory(),
            open.outstanding(),
            open.ranks(),
            open.cases(),
            open.warmUp(),
            open.limit());
    RankReport report = new WeftPeer().prepare(plan).round();
    assertThat(report.samples()).hasSize(1).allMatch(RankReport.Sample::checked);
  }

  @Test
  void aMissingTransportIsNamed() {
    MeasuringPlan plan =
        new MeasuringPlan(
            Benchmark.ALLREDUCE,
            new MeasuringPlan.Link("carrier", SecureMode.AUTO),
            TensorMemory.PRIVATE,
            1,
            2,
            List.of(new RankCase(4, 1, 1)),
            Duration.ZERO,
            Duration.ofSeconds(1));
    assertThatExceptionOfType(PerfException.Missing.class)
        .isThrownBy(() -> new WeftPeer().prepare(plan))
        .withMessageContaining("no transport 'carrier'")
        .withMessageContaining("tcp");
  }

  @Test
  void theWholeCommandMeasures(@TempDir Path directory) throws Exception {
    Path json = directory.resolve("figures.jsonl");
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exit =
        new CommandLine(new PerfCommand())
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(
                "allreduce",
                "-np",
                "2",
                "--bytes",
                "4,64K",
                "--rounds",
                "1",
                "--iterations",
                "5",
                "--warm-up",
                "1",
                "--json",
                json.toString());
    assertThat(exit).as(err.toString()).isZero();
    assertThat(Files.readAllLines(json)).hasSize(2).allMatch(l -> l.contains("\"checked\":true"));
    assertThat(out.toString()).contains("64 KiB");
  }
}
