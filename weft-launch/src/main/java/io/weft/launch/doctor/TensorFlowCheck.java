// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import io.weft.launch.process.Collector;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// Checks that TensorFlow's native library is on the class path, unpacked, and can be loaded.
final class TensorFlowCheck {

  private static final String AREA = "tensorflow";
  private static final String SUBJECT = "native library";
  private static final int LIMIT_SECONDS = 60;

  private TensorFlowCheck() {}

  static List<CheckResult> look() {
    Optional<String> jar =
        Arrays.stream(ManagementFactory.getRuntimeMXBean().getClassPath().split(File.pathSeparator))
            .map(entry -> Path.of(entry).getFileName())
            .filter(name -> name != null)
            .map(Path::toString)
            .filter(name -> name.matches("tensorflow-core-native-.*-[a-z]+-.*\\.jar"))
            .findFirst();
    if (jar.isEmpty()) {
      return List.of(
          CheckResult.missing(
              AREA,
              SUBJECT,
              "not on the class path for "
                  + System.getProperty("os.name")
                  + " "
                  + System.getProperty("os.arch"),
              "add tensorflow-core-native with this platform's classifier"));
    }
    List<String> files = unpacked(jar.get());
    if (files.isEmpty()) {
      return List.of(
          CheckResult.works(
              AREA, SUBJECT, jar.get() + ", not unpacked yet: the first use does it"));
    }
    return List.of(loaded(jar.get(), files));
  }

  /// Returns the libraries in JavaCPP's cache, dependencies first.
  private static List<String> unpacked(String jar) {
    String cache =
        System.getProperty(
            "org.bytedeco.javacpp.cachedir", System.getProperty("user.home") + "/.javacpp/cache");
    Path directory = Path.of(cache, jar);
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .map(Path::toString)
          .filter(name -> name.matches(".*/libtensorflow_(framework|cc)\\.(so|dylib)[.0-9]*"))
          .sorted((one, other) -> other.compareTo(one))
          .toList();
    } catch (IOException unreadable) {
      return List.of();
    }
  }

  private static CheckResult loaded(String jar, List<String> files) {
    var command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                ManagementFactory.getRuntimeMXBean().getClassPath(),
                LibraryProbe.class.getName()));
    command.addAll(1, Collector.flags());
    command.addAll(files);
    try {
      Process probe =
          new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
      if (!probe.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        probe.destroyForcibly();
        return broken(jar, "did not load within " + LIMIT_SECONDS + " s");
      }
      try (var words = probe.errorReader(StandardCharsets.UTF_8)) {
        Optional<String> first = words.lines().filter(line -> !line.isBlank()).findFirst();
        return probe.exitValue() == 0
            ? CheckResult.works(AREA, SUBJECT, jar + ", unpacked, loads")
            : broken(jar, first.orElse("exit code " + probe.exitValue()));
      }
    } catch (IOException refused) {
      return broken(jar, refused.toString());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return broken(jar, "interrupted");
    }
  }

  private static CheckResult broken(String jar, String reason) {
    return CheckResult.missing(
        AREA,
        SUBJECT,
        jar + " does not load: " + reason,
        "use a 64-bit system with glibc 2.31 or newer; remove ~/.javacpp/cache if it is damaged");
  }
}
