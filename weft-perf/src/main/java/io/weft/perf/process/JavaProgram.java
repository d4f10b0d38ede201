// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import io.weft.launch.process.Collector;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A peer program in Java that runs in a separate JVM.
///
/// @param main name of its main class
/// @param classpath class path of that class
/// @param flags additional flags of the JVM
public record JavaProgram(String main, String classpath, List<String> flags) {

  /// Copies the list.
  public JavaProgram {
    flags = List.copyOf(flags);
  }

  /// Creates a program with the class path of this JVM.
  public JavaProgram(Class<?> main) {
    this(main.getName(), System.getProperty("java.class.path"), List.of());
  }

  /// Returns the program's command line. It includes those JVM flags of Weft's ranks that also suit
  /// other programs.
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
