// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Command lines of programs in processes of their own, by this process's Java and on its class
/// path, with little to start.
public final class JvmCommand {

  private JvmCommand() {}

  /// Runs this program with these arguments; the list is the caller's.
  public static List<String> of(Class<?> program, String... arguments) {
    return of(List.of(), program, arguments);
  }

  /// The same with more flags of the JVM.
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
