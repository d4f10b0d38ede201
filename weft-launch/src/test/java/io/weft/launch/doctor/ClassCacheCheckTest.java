// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.doctor.CheckResult.CheckVerdict;
import io.weft.launch.process.RankJvm;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClassCacheCheckTest {

  @TempDir private Path directory;

  @Test
  void aCommandWithoutACacheGetsARemedy() {
    CheckResult result = ClassCacheCheck.of("", RankJvm::proof);
    assertThat(result.verdict()).isEqualTo(CheckVerdict.LIMITED);
    assertThat(result.remedy()).contains("script weft");
  }

  @Test
  void aMissingFileIsNamed() {
    Path file = directory.resolve("rank.aot");
    CheckResult result = ClassCacheCheck.of(file.toString(), RankJvm::proof);
    assertThat(result.verdict()).isEqualTo(CheckVerdict.LIMITED);
    assertThat(result.detail()).contains(file.toString(), "does not exist");
  }

  @Test
  void aDamagedFileIsNamedWithJavasReason() throws Exception {
    Path file = Files.writeString(directory.resolve("rank.aot"), "no cache");
    CheckResult result = ClassCacheCheck.of(file.toString(), RankJvm::proof);
    assertThat(result.verdict()).isEqualTo(CheckVerdict.LIMITED);
    assertThat(result.detail()).contains(file.toString(), "is not used: ", "header");
  }

  @Test
  void aCacheIsAcceptedUntilItsFileIsCutShort() throws Exception {
    Path cache = directory.resolve("rank.aot");
    Path jar = jar();
    Process maker =
        new ProcessBuilder(java(jar, "-XX:AOTCacheOutput=" + cache))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(maker.waitFor(60, TimeUnit.SECONDS)).as("the cache is made in time").isTrue();
    assertThat(ClassCacheCheck.of(cache.toString(), file -> proof(file, jar)).verdict())
        .isEqualTo(CheckVerdict.WORKS);
    try (FileChannel file = FileChannel.open(cache, StandardOpenOption.WRITE)) {
      file.truncate(Files.size(cache) / 2);
    }
    CheckResult result = ClassCacheCheck.of(cache.toString(), file -> proof(file, jar));
    assertThat(result.verdict()).isEqualTo(CheckVerdict.LIMITED);
    assertThat(result.detail()).contains("truncated");
  }

  /// A program for a jar, because a cache takes no class from a directory.
  static final class Program {
    public static void main(String[] arguments) {}
  }

  private Path jar() throws IOException {
    Path file = directory.resolve("one.jar");
    String entry = Program.class.getName().replace('.', '/') + ".class";
    try (var out = new JarOutputStream(Files.newOutputStream(file));
        var in = Program.class.getClassLoader().getResourceAsStream(entry)) {
      out.putNextEntry(new ZipEntry(entry));
      in.transferTo(out);
    }
    return file;
  }

  private static List<String> proof(Path cache, Path jar) {
    return java(jar, "-XX:AOTCache=" + cache, "-XX:AOTMode=on", "-Xlog:aot=warning:stdout:none");
  }

  private static List<String> java(Path jar, String... flags) {
    return Stream.of(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xlog:disable"),
            List.of(flags),
            List.of("-cp", jar.toString(), Program.class.getName()))
        .flatMap(List::stream)
        .toList();
  }
}
