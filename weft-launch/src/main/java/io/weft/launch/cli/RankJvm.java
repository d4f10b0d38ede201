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

  private static final String ARCHIVE_PROPERTY = "weft.archive";
  private static final String QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn";

  private RankJvm() {}

  /// Runs a class of this build.
  static List<String> command(Class<?> program, List<String> arguments) {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(FLAGS);
    command.addAll(Collector.flags());
    command.add(QUIET);
    String archive = System.getProperty(ARCHIVE_PROPERTY, "");
    if (!archive.isEmpty() && Files.isReadable(Path.of(archive))) {
      command.addAll(List.of("-XX:SharedArchiveFile=" + archive, "-Xshare:auto", "-Xlog:disable"));
    }
    command.add("-cp");
    command.add(ManagementFactory.getRuntimeMXBean().getClassPath());
    command.add(program.getName());
    command.addAll(arguments);
    return command;
  }
}
