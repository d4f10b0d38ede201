// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks ranks in executors that are processes, on Spark's `local-cluster`.
class LocalClusterTest {

  private static final long LIMIT_SECONDS = 300;
  private static final long LONG_LIMIT_SECONDS = 1200;

  @TempDir private Path directory;

  @Test
  @Timeout(LIMIT_SECONDS + 30)
  void ranksOfTwoExecutorsTrainAndOutliveALostExecutor() throws Exception {
    assertThat(run(LIMIT_SECONDS))
        .contains("ranks: 2 executors over shm")
        .contains("lost executor: [1, 1]")
        .contains("estimator: 2 executors, equal weights true")
        .contains("resumed: true, equal weights true");
  }

  @Test
  @Tag("long")
  @Timeout(LONG_LIMIT_SECONDS + 30)
  void trainingsOutliveTwentyKilledExecutors() throws Exception {
    assertThat(run(LONG_LIMIT_SECONDS, "20")).contains("resumed with equal weights: 20 of 20");
  }

  /// Runs `ClusterProgram` with a directory of jars as Spark's installation has it.
  private String run(long limitSeconds, String... arguments) throws Exception {
    Path home = Path.of("target", "spark-home").toAbsolutePath();
    Path jars = Files.createDirectories(home.resolve("jars"));
    List<String> folders = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path path = Path.of(entry).toAbsolutePath();
      if (entry.endsWith(".jar") && Files.exists(path)) {
        Path link = jars.resolve(path.getFileName());
        Files.deleteIfExists(link);
        Files.createSymbolicLink(link, path);
      } else if (Files.isDirectory(path)) {
        folders.add(path.toString());
      }
    }
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    List<String> command = new ArrayList<>(List.of(java));
    command.addAll(JavaFlags.ALL);
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-Dweft.test.checkpoints=" + directory.resolve("checkpoints").toUri(),
            "-Dweft.test.classes=" + String.join(File.pathSeparator, folders),
            "-cp",
            System.getProperty("java.class.path"),
            ClusterProgram.class.getName()));
    command.addAll(List.of(arguments));
    File output = directory.resolve("output.txt").toFile();
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output);
    builder.environment().put("SPARK_HOME", home.toString());
    builder.environment().put("SPARK_SCALA_VERSION", "2.13");
    builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process driver = builder.start();
    try {
      boolean ended = driver.waitFor(limitSeconds, TimeUnit.SECONDS);
      String text = Files.readString(output.toPath());
      assertThat(ended).as("ended within %d s: %s", limitSeconds, text).isTrue();
      assertThat(driver.exitValue()).as("exit status; output: %s", text).isZero();
      return text;
    } finally {
      driver.descendants().forEach(ProcessHandle::destroyForcibly);
      driver.destroyForcibly();
    }
  }
}
