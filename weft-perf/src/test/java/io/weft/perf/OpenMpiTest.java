// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

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
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class OpenMpiTest {

  private static final MeasuringPlan PLAN = Plans.of(Benchmark.ALLREDUCE, 2, "4:3", "65536:2");

  @TempDir private static Path cache;

  private static OpenMpi installed() {
    return new OpenMpi(SearchPath.ofEnvironment(), cache);
  }

  @Test
  void tcpUsesTheLoopbackInterfaceOnly() {
    assertThat(OpenMpi.launch(Path.of("/bin/mpirun"), OpenMpi.fabric("tcp"), 2, false, 2))
        .containsExactly(
            "/bin/mpirun",
            "--mca",
            "pml",
            "ob1",
            "--mca",
            "btl",
            "tcp,self",
            "--mca",
            "btl_tcp_if_include",
            "lo",
            "-np",
            "2");
  }

  @Test
  void rootAndTooFewCoresAddOptions() {
    assertThat(OpenMpi.launch(Path.of("/bin/mpirun"), OpenMpi.fabric("shm"), 2, true, 1))
        .startsWith(
            "/bin/mpirun",
            "--allow-run-as-root",
            "--oversubscribe",
            "--mca",
            "pml",
            "ob1",
            "--mca",
            "btl",
            "vader,self",
            "-np");
  }

  @Test
  void anotherTransportIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> OpenMpi.fabric("verbs"))
        .withMessageContaining("allowed: tcp, shm");
  }

  @ParameterizedTest
  @EnumSource(names = {"WRITES", "READS", "REGISTRATION", "SENDRECV"})
  void anUnsupportedBenchmarkIsRefused(Benchmark benchmark) {
    OpenMpi openMpi = new OpenMpi(new SearchPath(List.of()), cache);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> openMpi.prepare(Plans.small(benchmark)))
        .withMessage(
            "peer openmpi has no %s; it has all but: writes, reads, registration, sendrecv",
            benchmark.label());
  }

  @ParameterizedTest
  @EnumSource(
      value = Benchmark.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"WRITES", "READS", "REGISTRATION", "SENDRECV"})
  @Needs(OptionalProgram.OPENMPI)
  void everyBenchmarkIsMeasuredAndChecked(Benchmark benchmark) throws InterruptedException {
    MeasuringPlan plan = Plans.small(benchmark);
    RankReport report = installed().prepare(plan).round();
    assertThat(report.peer()).startsWith("openmpi ");
    assertThat(report.samples()).allMatch(RankReport.Sample::checked);
    assertThat(report.samples()).allMatch(sample -> Latencies.of(sample, 1).minMicros() > 0);
  }

  @Test
  @Needs(OptionalProgram.OPENMPI)
  void moreRanksThanCoresRun() throws InterruptedException {
    MeasuringPlan plan = Plans.of(Benchmark.ALLREDUCE, 3, "4:3", "12288:3");
    assertThat(installed().prepare(plan).round().samples()).allMatch(RankReport.Sample::checked);
  }

  @Test
  @Needs(OptionalProgram.OPENMPI)
  void sharedMemoryIsMeasured() throws InterruptedException {
    MeasuringPlan plan = Plans.shared(Plans.of(Benchmark.ALLREDUCE, 2, "4:3", "65536:2"));
    assertThat(installed().prepare(plan).round().samples()).allMatch(RankReport.Sample::checked);
  }

  @Test
  @Needs(OptionalProgram.OPENMPI)
  void theProgramIsCompiledOnce() throws InterruptedException, IOException {
    OpenMpi openMpi = installed();
    openMpi.prepare(PLAN);
    openMpi.prepare(PLAN);
    try (Stream<Path> kept = Files.list(cache)) {
      assertThat(kept.filter(Files::isExecutable)).hasSize(1);
    }
  }

  @Test
  void aFailedCompilerIsReportedWithItsMessage(@TempDir Path bin) throws IOException {
    script(bin.resolve("mpirun"), "exit 0");
    script(bin.resolve("mpicc"), "echo 'gcc: not found' >&2; exit 1");
    OpenMpi openMpi = new OpenMpi(new SearchPath(List.of(bin)), bin.resolve("cache"));
    assertThatExceptionOfType(PerfException.Missing.class)
        .isThrownBy(() -> openMpi.prepare(PLAN))
        .withMessageContaining("gcc: not found")
        .withMessageContaining("apt-get install");
  }

  @Test
  void aFailedLauncherIsReportedWithItsMessage(@TempDir Path bin)
      throws IOException, InterruptedException {
    script(bin.resolve("mpirun"), "echo 'no slots' >&2; exit 213");
    script(
        bin.resolve("mpicc"),
        "while [ \"$1\" != -o ]; do shift; done; echo '#!/bin/sh' > \"$2\"; chmod +x \"$2\"");
    OpenMpi openMpi = new OpenMpi(new SearchPath(List.of(bin)), bin.resolve("cache"));
    MeasuredPeer.Prepared contestant = openMpi.prepare(PLAN);
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(contestant::round)
        .withMessageContaining("status 213")
        .withMessageContaining("no slots");
  }

  private static void script(Path file, String body) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }
}
