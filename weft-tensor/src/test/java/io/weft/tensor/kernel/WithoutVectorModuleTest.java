// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A JVM that was started without the incubator module works on heap tiles and computes the same.
class WithoutVectorModuleTest {

  private static final long SEED = Long.getLong("weft.test.seed", 20_260_101L);

  @TempDir Path directory;

  @Test
  void aJvmWithoutTheModuleComputesTheSameOnHeapTiles() throws Exception {
    assertThat(Kernels.description()).startsWith("vector");
    assertThat(digestOfOtherJvm())
        .as("seed %d (set -Dweft.test.seed)", SEED)
        .isEqualTo("heap tiles " + KernelDigest.of(SEED));
  }

  private String digestOfOtherJvm() throws IOException, InterruptedException {
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                KernelDigest.class.getName(),
                Long.toString(SEED))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("ended within 30 s").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return Files.readString(output, StandardCharsets.UTF_8).strip();
  }
}
