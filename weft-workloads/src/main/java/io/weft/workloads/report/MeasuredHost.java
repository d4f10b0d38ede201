// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// The machine and the JVM of a measurement or a training.
///
/// @param cpu model name
/// @param cores number of processors of this process
/// @param memory size of the machine's memory in bytes, -1 if unknown
/// @param kernel name and release
/// @param jdk version of the JVM
/// @param loadAverage runnable threads over the minute before `here` was called, -1 if unknown
public record MeasuredHost(
    String cpu, int cores, long memory, String kernel, String jdk, double loadAverage) {

  /// Returns this machine in its present state.
  public static MeasuredHost here() {
    String kibibytes = field(Path.of("/proc/meminfo"), "MemTotal").replaceAll("\\D", "");
    return new MeasuredHost(
        field(Path.of("/proc/cpuinfo"), "model name"),
        Runtime.getRuntime().availableProcessors(),
        kibibytes.isEmpty() ? -1 : Long.parseLong(kibibytes) << 10,
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        Runtime.version().toString(),
        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
  }

  /// Returns the description in one line.
  public String words() {
    return "%s, %d cores, %s, JDK %s, load %.2f before"
        .formatted(cpu, cores, kernel, jdk, loadAverage);
  }

  /// Returns the first `name : value` of a file, or the architecture's name if the file has none.
  private static String field(Path file, String name) {
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .filter(line -> line.startsWith(name) && line.contains(":"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(System.getProperty("os.arch"));
    } catch (IOException e) {
      return System.getProperty("os.arch");
    }
  }
}
