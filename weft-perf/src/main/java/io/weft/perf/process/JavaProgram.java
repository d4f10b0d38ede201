// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import io.weft.launch.process.Collector;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A peer's program in Java, in a JVM of its own.
///
/// @param main name of its main class
/// @param classpath where that is
/// @param flags of the JVM, besides those that all have
public record JavaProgram(String main, String classpath, List<String> flags) {

  /// Copies the list.
  public JavaProgram {
    flags = List.copyOf(flags);
  }

  /// With the class path of this JVM.
  public JavaProgram(Class<?> main) {
    this(main.getName(), System.getProperty("java.class.path"), List.of());
  }

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
            "-Xmx1g"));
    command.addAll(flags);
    command.addAll(List.of("-cp", classpath, main));
    command.addAll(arguments);
    return command;
  }
}
