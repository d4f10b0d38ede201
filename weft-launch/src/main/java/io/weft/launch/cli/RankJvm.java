// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.launch.process.Collector;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The Java that ranks run: this one, with this class path, and the flags that Weft needs.
final class RankJvm {

  /// Vector kernels, native memory, and TensorFlow's use of both.
  static final List<String> FLAGS =
      List.of(
          "--add-modules=jdk.incubator.vector",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "-XX:-UsePerfData",
          // Ranks compute on all processors from the first step on. With Java's own bounds the
          // compiler takes a core of theirs for most of a minute.
          "-XX:FreqInlineSize=120",
          "-XX:InlineSmallCode=800",
          "-Dstdout.encoding=UTF-8",
          "-Dstderr.encoding=UTF-8");

  /// TensorFlow says what is wrong and no more, and its idle threads sleep: ranks share a machine.
  static final Map<String, String> ENVIRONMENT =
      Map.of("TF_CPP_MIN_LOG_LEVEL", "2", "OMP_WAIT_POLICY", "PASSIVE");

  /// The file of classes and profiles that ranks start from (JEP 483, JEP 515); with `%p` in its
  /// name, for the process's number, each rank makes one at its end.
  private static final String CACHE_PROPERTY = "weft.rank.cache";

  private static final String QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn";

  private RankJvm() {}

  /// Runs a class of this build.
  static List<String> command(Class<?> program, List<String> arguments) {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(FLAGS);
    command.addAll(Collector.flags());
    command.add(QUIET);
    command.addAll(cache(System.getProperty(CACHE_PROPERTY, "")));
    command.add("-cp");
    command.add(ManagementFactory.getRuntimeMXBean().getClassPath());
    command.add(program.getName());
    command.addAll(arguments);
    return command;
  }

  /// Returns the flags for a cache. Java does without one that does not fit.
  static List<String> cache(String file) {
    if (file.contains("%p")) {
      return List.of("-XX:AOTCacheOutput=" + file, "-Xlog:disable");
    }
    return !file.isEmpty() && Files.isReadable(Path.of(file))
        ? List.of("-XX:AOTCache=" + file, "-Xlog:disable")
        : List.of();
  }
}
