// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.launch.perf.process.PerfException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Without grpc-java, which is not on this module's class path; `weft-bench` runs the program
/// itself. TensorFlow's own gRPC is there.
final class GrpcJavaTest {

  @TempDir private Path empty;

  @Test
  void whatIsMissingIsNamedWithHowToGetIt() throws IOException {
    MeasuringPlan plan = Plans.small(Benchmark.MESSAGES);
    assertThatExceptionOfType(PerfException.Missing.class)
        .isThrownBy(() -> new GrpcJava(empty.toString()).prepare(plan))
        .withMessageContaining("io.weft.bench.grpc.GrpcMessages is not on the class path")
        .withMessageContaining("mvn -q -pl weft-bench -am package -DskipTests");
    Path program = empty.resolve("io/weft/bench/grpc/GrpcMessages.class");
    Files.createDirectories(program.getParent());
    Files.createFile(program);
    String classPath = empty.resolve("no.jar") + File.pathSeparator + empty;
    assertThatExceptionOfType(PerfException.Missing.class)
        .isThrownBy(() -> new GrpcJava(classPath).prepare(plan))
        .withMessageContaining("io.grpc.netty.shaded")
        .withMessageContaining("weft-bench/target/grpc.classpath");
  }

  @ParameterizedTest
  @EnumSource(
      names = {"MESSAGES", "SENDRECV"},
      mode = EnumSource.Mode.EXCLUDE)
  void whatItHasNotIsRefused(Benchmark benchmark) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new GrpcJava(empty.toString()).prepare(Plans.small(benchmark)))
        .withMessage("peer grpc has no " + benchmark.label() + "; it has: messages, sendrecv");
  }

  @Test
  void stepsOverTwoProcessesAreMeasuredUnderTensorFlowsOwnRuntime() throws InterruptedException {
    MeasuringPlan plan = Plans.shared(Plans.of(Benchmark.SENDRECV, 2, "0:3:0", "8:5", "4096:3:7"));
    RankReport report = new GrpcJava("").prepare(plan).round();
    assertThat(report.peer()).startsWith("grpc tensorflow 2.");
    assertThat(report.samples()).hasSize(3).allMatch(RankReport.Sample::checked);
    assertThat(report.samples()).allMatch(sample -> sample.requests() == null);
  }

  @Test
  void sharedMemoryIsRefused() {
    MeasuringPlan shm = Plans.shared(Plans.small(Benchmark.MESSAGES));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new GrpcJava(empty.toString()).prepare(shm))
        .withMessage("peer grpc has no transport 'shm'; allowed: tcp");
  }
}
