// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.JvmCommand;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PyTorchTest {

  @TempDir private Path directory;

  /// A program that loads PyTorch and prints the reason if it does not load.
  static final class Loading {

    private Loading() {}

    public static void main(String[] arguments) {
      try {
        System.out.println("loaded " + PyTorch.load().getEngineName());
      } catch (IllegalStateException e) {
        System.out.println("refused: " + e.getMessage());
      }
    }
  }

  @Test
  void librariesThatDoNotLoadAreReportedWithTheRequirements() throws Exception {
    Path broken = Files.createDirectory(directory.resolve("libraries"));
    for (String library : List.of("libc10.so", "libtorch_cpu.so", "libtorch.so")) {
      Files.writeString(broken.resolve(library), "this is no library");
    }
    assertThat(output(List.of("-DPYTORCH_LIBRARY_PATH=" + broken)))
        .contains("refused: PyTorch does not load here (")
        .contains("pytorch-native-cpu and pytorch-jni")
        .contains("DJL_CACHE_DIR");
  }

  @Test
  void aCacheThatCannotBeWrittenIsReported() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "no directory");
    assertThat(output(List.of("-DDJL_CACHE_DIR=" + file)))
        .contains("refused: PyTorch does not load here (");
  }

  private String output(List<String> flags) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(JvmCommand.of(flags, Loading.class));
    Path said = directory.resolve("output");
    builder.redirectErrorStream(true).redirectOutput(said.toFile());
    Process process = builder.start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      return Files.readString(said, StandardCharsets.UTF_8);
    } finally {
      process.destroyForcibly();
    }
  }
}
