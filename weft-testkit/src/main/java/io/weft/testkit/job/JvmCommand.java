// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Command lines of programs in separate processes, with this process's Java and class path, and
/// flags for a fast start.
public final class JvmCommand {

  private JvmCommand() {}

  /// Returns a command for this program with these arguments; the caller owns the list.
  public static List<String> of(Class<?> program, String... arguments) {
    return of(List.of(), program, arguments);
  }

  /// Returns a command with additional flags of the JVM.
  public static List<String> of(List<String> flags, Class<?> program, String... arguments) {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(flags);
    command.addAll(List.of("-cp", ManagementFactory.getRuntimeMXBean().getClassPath()));
    command.add(program.getName());
    command.addAll(List.of(arguments));
    return command;
  }
}
