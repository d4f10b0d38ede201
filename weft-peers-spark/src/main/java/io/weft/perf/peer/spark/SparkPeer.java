// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer.spark;

import io.weft.file.ScratchDirectory;
import io.weft.perf.process.JavaProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaSparkContext;

/// Starts the driver with the Java flags and the directories that Spark needs, and deletes the
/// directories afterwards. Its arguments are those of `TreeAggregate`, or `load`, with which it
/// only loads Spark.
public final class SparkPeer {

  /// The flags of Spark's own launcher for this version of Java, as far as the driver needs them.
  private static final List<String> FLAGS =
      List.of(
          "-Xmx3g",
          "--add-modules=jdk.incubator.vector",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
          "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
          "--add-opens=java.base/java.io=ALL-UNNAMED",
          "--add-opens=java.base/java.net=ALL-UNNAMED",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/java.util=ALL-UNNAMED",
          "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
          "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-opens=java.base/sun.util.calendar=ALL-UNNAMED");

  private SparkPeer() {}

  /// Exits with the driver's exit code.
  public static void main(String[] words) throws IOException, InterruptedException {
    System.exit(List.of(words).equals(List.of("load")) ? load() : run(List.of(words)));
  }

  private static int load() {
    return JavaSparkContext.class.getName().isEmpty() ? 1 : 0;
  }

  private static int run(List<String> words) throws IOException, InterruptedException {
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    try (ScratchDirectory home = ScratchDirectory.create(temporary, "weft-spark-peer")) {
      // Spark looks for its jars there; TreeAggregate gives executors a class path instead.
      Files.createDirectory(home.path().resolve("jars"));
      JavaProgram driver =
          new JavaProgram(
              TreeAggregate.class.getName(), System.getProperty("java.class.path"), FLAGS);
      ProcessBuilder builder = new ProcessBuilder(driver.command(words)).inheritIO();
      builder
          .environment()
          .putAll(
              Map.of(
                  "SPARK_HOME", home.path().toString(),
                  "SPARK_LOCAL_DIRS", home.path().resolve("local").toString(),
                  "SPARK_LOCAL_IP", "127.0.0.1",
                  "SPARK_SCALA_VERSION", "2.13",
                  "JAVA_HOME", System.getProperty("java.home")));
      return builder.start().waitFor();
    }
  }
}
