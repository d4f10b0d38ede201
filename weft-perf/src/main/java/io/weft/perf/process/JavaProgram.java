// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import io.weft.launch.process.Collector;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A peer's program in Java, in a JVM of its own with the class path of this one.
///
/// @param main its main class
public record JavaProgram(Class<?> main) {

  /// The command line that runs it, with the flags of Weft's ranks, as far as they concern others.
  public List<String> command(List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Collector.flags());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:-UsePerfData",
            "-Xmx1g",
            "-cp",
            System.getProperty("java.class.path"),
            main.getName()));
    command.addAll(arguments);
    return command;
  }
}
