// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Checks kernels in JVMs that were started with other flags than this one.
class OtherJvmsTest {

  private static final long SEED = Long.getLong("weft.test.seed", 20_260_101L);
  private static final String VECTORS = "--add-modules=jdk.incubator.vector";
  private static final String C1 = "-XX:TieredStopAtLevel=1";

  @TempDir Path directory;

  @Test
  void aJvmWithoutTheVectorModuleComputesTheSameOnHeapTiles() throws Exception {
    assertThat(Kernels.description()).startsWith("vector");
    assertThat(output(List.of(C1), KernelDigest.class, Long.toString(SEED)).getLast())
        .as("seed %d (set -Dweft.test.seed)", SEED)
        .isEqualTo("heap tiles " + KernelDigest.of(SEED));
  }

  @Test
  void aJvmWithoutNativeAccessComputesTheSame() throws Exception {
    assertThat(output(List.of(VECTORS, C1), KernelDigest.class, Long.toString(SEED)).getLast())
        .as("seed %d (set -Dweft.test.seed)", SEED)
        .isEqualTo(Kernels.description() + " " + KernelDigest.of(SEED));
  }

  @Tag("lab")
  @Test
  void mixedSegmentsDoNotDeoptimizeACompiledKernel() throws Exception {
    List<String> lines =
        output(
            List.of(
                VECTORS, "--enable-native-access=ALL-UNNAMED", "-Xlog:deoptimization=debug:stdout"),
            MixedSegments.class);
    assertThat(lines.getLast()).isEqualTo("right");
    assertThat(lines).filteredOn(line -> line.contains("FloatVectors")).hasSizeLessThan(4);
  }

  private List<String> output(List<String> flags, Class<?> program, String... arguments)
      throws IOException, InterruptedException {
    Path output = directory.resolve("output");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:+UseSerialGC");
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("ended within 30 s").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return Files.readAllLines(output, StandardCharsets.UTF_8);
  }
}
