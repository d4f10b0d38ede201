// SPDX-License-Identifier: Apache-2.0
package io.weft.starter;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.JvmCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// A Maven project of a user of Weft, outside this build, with this build's JDK and Maven.
record OwnProject(Path directory) {

  /// The limit of each process, sufficient for a busy machine.
  private static final Duration LIMIT = Duration.ofMinutes(4);

  /// The JVM flags of docs/launchers.md.
  private static final List<String> FLAGS =
      List.of(
          "--add-modules=jdk.incubator.vector",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  private static final Path OWN_JDK = Path.of(System.getProperty("java.home"));
  private static final Path INSTALLED = Path.of("/usr/lib/jvm");

  private static final Pattern SHOWN_FILE =
      Pattern.compile(
          "`(?<name>[\\w./-]+)`:\\n\\n```\\w+\\n(?<content>.*?)^```$",
          Pattern.DOTALL | Pattern.MULTILINE);

  /// The exit code of a process and its output, which includes errors.
  record Ended(int code, String text) {}

  /// Copies the project with this name from `src/it`.
  static OwnProject copy(String name, Path into) throws IOException {
    Path from = Path.of("src", "it", name).toAbsolutePath();
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path to = into.resolve(from.relativize(file).toString());
        Files.createDirectories(to.getParent());
        Files.copy(file, to);
      }
    }
    return new OwnProject(into);
  }

  /// Creates the project whose files a document of this repository shows. Each file is a code block
  /// after a line that ends with the file's name: "`pom.xml`:".
  static OwnProject shownIn(Path document, Path into) throws IOException {
    Matcher shown = SHOWN_FILE.matcher(Files.readString(document));
    while (shown.find()) {
      Path file = into.resolve(shown.group("name"));
      Files.createDirectories(file.getParent());
      Files.writeString(file, shown.group("content"));
    }
    return new OwnProject(into);
  }

  /// Runs Maven up to this phase. If a JDK older than Weft's is installed beside it, Maven runs on
  /// the older JDK, and the project finds the newer one itself.
  void build(String phase, PrivateRepository repository) throws Exception {
    Ended ended =
        run(
            List.of(
                Path.of(System.getProperty("it.maven.home"), "bin", "mvn").toString(),
                "-B",
                "-q",
                "-Dmaven.repo.local=" + repository.directory(),
                "-Dweft.version=" + System.getProperty("it.version"),
                phase),
            olderJdk().orElse(OWN_JDK));
    assertThat(ended.code()).as(ended.text()).isZero();
  }

  private static Optional<Path> olderJdk() throws IOException {
    if (!INSTALLED.equals(OWN_JDK.getParent())) {
      return Optional.empty(); // the project would not find its JDK
    }
    try (Stream<Path> jdks = Files.list(INSTALLED)) {
      return jdks.filter(jdk -> Files.isExecutable(jdk.resolve("bin/javac")))
          .filter(jdk -> jdk.getFileName().toString().matches(".*\\b(17|21)\\b.*"))
          .findFirst();
    }
  }

  /// Runs `weft run` with two ranks of a Java program.
  Ended runTwoRanks(List<String> arguments) throws Exception {
    List<String> command = new ArrayList<>(JvmCommand.of(io.weft.launch.cli.Main.class));
    command.addAll(
        List.of("run", "-np", "2", "--start-deadline", "120s", "--silence-limit", "60s"));
    command.add("--");
    command.addAll(java(arguments));
    return run(command);
  }

  /// Runs a Java program.
  Ended runAlone(List<String> arguments) throws Exception {
    return run(java(arguments));
  }

  private static List<String> java(List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(FLAGS);
    command.addAll(arguments);
    return command;
  }

  private Ended run(List<String> command) throws Exception {
    return run(command, OWN_JDK);
  }

  private Ended run(List<String> command, Path jdk) throws Exception {
    Path printed = Files.createTempFile(directory, "printed", ".txt");
    var builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile());
    builder.environment().put("JAVA_HOME", jdk.toString());
    builder.environment().put("TF_CPP_MIN_LOG_LEVEL", "2");
    builder.environment().keySet().removeIf(name -> name.startsWith("WEFT_"));
    Process process = builder.start();
    try {
      boolean ended = process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertThat(ended).as(() -> command + " still runs").isTrue();
      return new Ended(process.exitValue(), Files.readString(printed));
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
