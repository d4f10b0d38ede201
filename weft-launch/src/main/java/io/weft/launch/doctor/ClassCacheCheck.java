// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import io.weft.launch.process.RankJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/// Checks whether Java accepts the cache of classes and profiles from which ranks of `weft train`
/// start. Ranks start without the cache if Java does not accept it.
final class ClassCacheCheck {

  private static final String AREA = "java";
  private static final String SUBJECT = "class cache";
  private static final String REMEDY = "remove target/weft, then the next ./weft makes a cache";
  private static final int LIMIT_SECONDS = 30;

  private ClassCacheCheck() {}

  static CheckResult look() {
    return of(RankJvm.cacheFile(), RankJvm::proof);
  }

  /// Checks the file `name`; `proof` makes the command that ends with 0 if Java accepts it.
  static CheckResult of(String name, Function<Path, List<String>> proof) {
    if (name.isEmpty()) {
      return CheckResult.limited(
          AREA,
          SUBJECT,
          "none is configured; ranks start some seconds later",
          "start this command by the script weft, which makes a cache when it builds");
    }
    Path file = Path.of(name);
    if (!Files.isReadable(file)) {
      return CheckResult.limited(
          AREA, SUBJECT, file + " does not exist; ranks start some seconds later", REMEDY);
    }
    try {
      return tried(file, proof.apply(file));
    } catch (IOException refused) {
      return unfit(file, refused.toString());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return unfit(file, "interrupted");
    }
  }

  private static CheckResult tried(Path file, List<String> command)
      throws IOException, InterruptedException {
    Process java =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    if (!java.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      java.destroyForcibly();
      return unfit(file, "Java did not start within " + LIMIT_SECONDS + " s");
    }
    List<String> lines;
    try (var words = java.inputReader(StandardCharsets.UTF_8)) {
      lines = words.lines().filter(line -> !line.isBlank()).toList();
    }
    return java.exitValue() == 0
        ? CheckResult.works(AREA, SUBJECT, file + ", Java accepts it; ranks start from it")
        : unfit(file, lines.isEmpty() ? "exit code " + java.exitValue() : lines.getFirst());
  }

  private static CheckResult unfit(Path file, String reason) {
    return CheckResult.limited(
        AREA,
        SUBJECT,
        file + " is not used: " + reason + "; ranks start some seconds later",
        REMEDY);
  }
}
