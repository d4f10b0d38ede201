// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.program;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// A runner of shell scripts, each in an empty directory that is removed afterwards.
///
/// @param path the directories of their programs
record ScriptRunner(String path) {

  private static final int LIMIT_SECONDS = 60;

  /// Runs the script, which ends at its first failed command. Returns the reason of a failure;
  /// empty on success. Blocks for at most a minute.
  Optional<String> run(String script) {
    try {
      Path directory = Files.createTempDirectory("weft-program");
      try {
        return run(script, directory);
      } finally {
        remove(directory);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of("the trial was interrupted");
    }
  }

  private Optional<String> run(String script, Path directory)
      throws IOException, InterruptedException {
    Path said = directory.resolve("said");
    ProcessBuilder builder =
        new ProcessBuilder("/bin/sh", "-e", "-c", script)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(said.toFile());
    builder.environment().put("PATH", path);
    Process process = builder.start();
    try {
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        return Optional.of("its trial has not ended after " + LIMIT_SECONDS + " s");
      }
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    if (process.exitValue() == 0) {
      return Optional.empty();
    }
    return Optional.of(why(Files.readAllLines(said), process.exitValue()));
  }

  /// Returns the line that most likely describes the error.
  private static String why(List<String> said, int code) {
    List<String> lines = said.stream().filter(line -> !line.isBlank()).toList();
    return lines.stream()
        .filter(line -> line.toLowerCase(Locale.ROOT).contains("error"))
        .findFirst()
        .orElseGet(() -> lines.isEmpty() ? "exit code " + code : lines.getLast())
        .strip();
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
