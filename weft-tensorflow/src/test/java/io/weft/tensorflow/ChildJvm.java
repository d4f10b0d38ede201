// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// A runner of test programs in a separate JVM, for actions that a process can do only once.
public final class ChildJvm {

  private ChildJvm() {}

  /// The program's output, which includes errors, and its exit code.
  public record Output(int exitCode, String text) {}

  /// Runs a program with these options and the entries of the class path that pass the filter.
  public static Output run(
      List<String> options, Predicate<String> entries, Class<?> program, String... arguments)
      throws Exception {
    String classPath =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entries)
            .collect(Collectors.joining(File.pathSeparator));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--sun-misc-unsafe-memory-access=allow");
    command.addAll(options);
    command.addAll(List.of("-cp", classPath, program.getName()));
    command.addAll(List.of(arguments));
    Path printed = Files.createTempFile("weft-child", ".txt");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    try {
      boolean ended = process.waitFor(180, TimeUnit.SECONDS);
      String text = Files.readString(printed);
      if (!ended) {
        throw new AssertionError("still running after 180 s, printed:\n" + text);
      }
      return new Output(process.exitValue(), text);
    } finally {
      process.destroyForcibly();
      Files.deleteIfExists(printed);
    }
  }
}
