// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The machine and the JVM of a measurement.
///
/// @param cpu model name
/// @param cores that this process may use
/// @param kernel name and version of the operating system
/// @param jdk version of the JVM
public record TrainingHost(String cpu, int cores, String kernel, String jdk) {

  /// Returns the host of this process.
  public static TrainingHost here() {
    return new TrainingHost(
        cpuModel(),
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        Runtime.version().toString());
  }

  private static String cpuModel() {
    try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElseGet(TrainingHost::architecture);
    } catch (IOException | RuntimeException e) {
      return architecture();
    }
  }

  private static String architecture() {
    return System.getProperty("os.arch");
  }
}
