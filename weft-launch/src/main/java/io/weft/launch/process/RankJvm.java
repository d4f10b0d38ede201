// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The Java command of ranks: this Java, with this class path, and the flags that Weft needs.
public final class RankJvm {

  /// The flags for vector kernels, native memory, and TensorFlow's use of both.
  private static final List<String> FLAGS =
      List.of(
          "--add-modules=jdk.incubator.vector",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "-XX:-UsePerfData",
          // Ranks compute on all processors from the first step on. With Java's default bounds the
          // compiler would occupy one core for most of a minute.
          "-XX:FreqInlineSize=120",
          "-XX:InlineSmallCode=800",
          "-Dstdout.encoding=UTF-8",
          "-Dstderr.encoding=UTF-8");

  /// The variables of ranks: TensorFlow logs only warnings and errors, and its idle threads sleep,
  /// because ranks share a machine.
  public static final Map<String, String> ENVIRONMENT =
      Map.of("TF_CPP_MIN_LOG_LEVEL", "2", "OMP_WAIT_POLICY", "PASSIVE");

  /// The property with the file of classes and profiles from which ranks start (JEP 483, JEP 515).
  /// If its name contains `%p`, for the process's number, each rank writes such a file at its end.
  private static final String CACHE_PROPERTY = "weft.rank.cache";

  /// Warnings only, and none of DJL about GPUs, which it looks for although Weft uses processors.
  private static final List<String> QUIET =
      List.of(
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
          "-Dorg.slf4j.simpleLogger.log.ai.djl.util.cuda=error");

  private RankJvm() {}

  /// Returns the command that runs a class of this build.
  public static List<String> command(Class<?> program, List<String> arguments) {
    List<String> command = java(cache(cacheFile()));
    command.add(program.getName());
    command.addAll(arguments);
    return command;
  }

  /// Returns the command that prints Java's version if Java accepts `cache` for ranks. Otherwise
  /// Java prints the reason to its standard output and ends with an exit code other than 0.
  public static List<String> proof(Path cache) {
    List<String> command =
        java(
            List.of(
                "-XX:AOTCache=" + cache,
                "-XX:AOTMode=on",
                "-Xlog:disable",
                "-Xlog:aot=warning:stdout:none"));
    command.add("-version");
    return command;
  }

  /// Returns the file from which ranks start; empty = none is configured.
  public static String cacheFile() {
    return System.getProperty(CACHE_PROPERTY, "");
  }

  private static List<String> java(List<String> cache) {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(FLAGS);
    command.addAll(Collector.flags());
    command.addAll(QUIET);
    command.addAll(cache);
    command.add("-cp");
    command.add(ManagementFactory.getRuntimeMXBean().getClassPath());
    return command;
  }

  /// Returns the flags for a cache. Java ignores a cache that does not fit.
  static List<String> cache(String file) {
    if (file.contains("%p")) {
      return List.of("-XX:AOTCacheOutput=" + file, "-Xlog:disable");
    }
    return !file.isEmpty() && Files.isReadable(Path.of(file))
        ? List.of("-XX:AOTCache=" + file, "-Xlog:disable")
        : List.of();
  }
}
