// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

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

/// Without gRPC, which is not on this module's class path; `weft-bench` runs the program itself.
final class GrpcJavaTest {

  @TempDir private Path empty;

  @Test
  void whatIsMissingIsNamedWithHowToGetIt() throws IOException {
    Plan plan = Plans.small(Benchmark.MESSAGES);
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
      names = {"MESSAGES"},
      mode = EnumSource.Mode.EXCLUDE)
  void onlyMessagesAreMeasured(Benchmark benchmark) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new GrpcJava(empty.toString()).prepare(Plans.small(benchmark)))
        .withMessage("peer grpc has no " + benchmark.label() + "; it has: messages");
  }

  @Test
  void sharedMemoryIsRefused() {
    Plan shm = Plans.shared(Plans.small(Benchmark.MESSAGES));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new GrpcJava(empty.toString()).prepare(shm))
        .withMessage("peer grpc has no transport 'shm'; allowed: tcp");
  }
}
