// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks the script `weft` at the repository's root, and the lock that it shares with the scripts
/// in `tools`.
class ScriptTest {

  private static final Path SCRIPT = Path.of("..", "weft");

  @TempDir private Path directory;

  @Test
  void withoutARecentJdkOneLineSaysWhatToInstall() throws IOException, InterruptedException {
    String script = Files.readString(SCRIPT);
    assertThat(script).contains("\noldest=25\n");
    Path demanding = root().resolve("weft");
    Files.writeString(demanding, script.replace("\noldest=25\n", "\noldest=999\n"));
    Process process =
        new ProcessBuilder("sh", demanding.toString(), "doctor").redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(ExitCodes.MISSING);
    assertThat(said.lines()).singleElement().asString().contains("JDK 999", "install", "JAVA_HOME");
  }

  /// Returns a separate root with copies of the scripts.
  private Path root() throws IOException {
    Path tools = Files.createDirectories(directory.resolve("root/tools"));
    for (String name : List.of("weft", "tools/build-lock", "tools/qa")) {
      Path copy = tools.getParent().resolve(name);
      if (!Files.exists(copy)) {
        Files.copy(SCRIPT.resolveSibling(name), copy);
      }
    }
    return tools.getParent();
  }

  /// Starts a copy of `weft` with a Maven that this test writes.
  private Process build(String maven) throws IOException {
    return build(maven, "weft", System.getenv("PATH"), "said");
  }

  /// Starts a copy of a script with a Maven that this test writes.
  ///
  /// @param path the directories of other programs
  /// @param said the file for the output
  private Process build(String maven, String name, String path, String said) throws IOException {
    Path mvn = Files.createDirectories(directory.resolve("bin")).resolve("mvn");
    Path draft = mvn.resolveSibling("mvn.new");
    Files.writeString(draft, "#!/bin/sh\n" + maven);
    Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rwx------"));
    Files.move(draft, mvn, StandardCopyOption.REPLACE_EXISTING);
    var builder = new ProcessBuilder("sh", root().resolve(name).toString(), "doctor");
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("PATH", mvn.getParent() + ":" + path);
    builder.environment().put("DIR", directory.toString());
    return builder
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve(said).toFile())
        .start();
  }

  private List<String> lines(String file) throws IOException {
    Path path = directory.resolve(file);
    return Files.exists(path) ? Files.readAllLines(path) : List.of();
  }

  private void awaitLine(String file) throws IOException {
    long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (lines(file).isEmpty()) {
      assertThat(System.nanoTime() - end).as("nanoseconds over").isNegative();
      LockSupport.parkNanos(20_000_000);
    }
  }

  @Test
  void nextCallWaitsForTheMavenOfAKilledCall() throws IOException, InterruptedException {
    String slow =
        """
        trap '' TERM
        echo begin >> $DIR/log
        i=0
        while [ $i -lt 10 ]; do sleep 0.2; i=$((i + 1)); done
        echo end >> $DIR/log
        exit 1
        """;
    Process killed = build(slow);
    awaitLine("log");
    assertThat(killed.destroyForcibly().waitFor(30, TimeUnit.SECONDS)).isTrue();
    Process next = build("echo next >> $DIR/log; exit 1");
    assertThat(next.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(next.exitValue()).isEqualTo(ExitCodes.MISSING);
    assertThat(lines("log")).containsExactly("begin", "end", "next");
  }

  /// Returns the PATH of this process, or a directory with the programs of the scripts but `flock`.
  private String path(boolean flock) throws IOException {
    if (flock) {
      return System.getenv("PATH");
    }
    Path programs = Files.createDirectories(directory.resolve("programs"));
    for (String name :
        List.of("sh", "dirname", "mkdir", "cat", "rm", "mv", "sleep", "find", "head", "grep")) {
      for (String from : List.of("/usr/bin", "/bin")) {
        Path program = Path.of(from, name);
        if (Files.exists(program) && !Files.exists(programs.resolve(name))) {
          Files.createSymbolicLink(programs.resolve(name), program);
        }
      }
    }
    return programs.toString();
  }

  @ParameterizedTest
  @CsvSource({"tools/qa, weft, true", "weft, tools/qa, true", "tools/qa, weft, false"})
  void scriptsThatBuildInOneCheckoutWaitForEachOther(String first, String second, boolean flock)
      throws IOException, InterruptedException {
    String slow =
        """
        echo begin >> $DIR/log
        i=0
        while [ $i -lt 5 ]; do sleep 0.2; i=$((i + 1)); done
        echo end >> $DIR/log
        exit 1
        """;
    Process one = build(slow, first, path(flock), "said-1");
    awaitLine("log");
    Process next = build("echo next >> $DIR/log; exit 1", second, path(flock), "said-2");
    assertThat(next.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(one.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(lines("log"))
        .as("output %s", lines("said-2"))
        .containsExactly("begin", "end", "next");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void waitForALongBuildEndsWithItsHolder(boolean flock) throws IOException, InterruptedException {
    Path lock = root().resolve("tools/build-lock");
    String text = Files.readString(lock);
    assertThat(text).contains("\nlock_seconds=1800\n");
    Files.writeString(lock, text.replace("\nlock_seconds=1800\n", "\nlock_seconds=1\n"));
    String slow = "echo begin >> $DIR/log; while [ ! -e $DIR/stop ]; do sleep 0.1; done; exit 1";
    Process one = build(slow, "tools/qa", path(flock), "said-1");
    awaitLine("log");
    Process next = build("echo next >> $DIR/log; exit 1", "weft", path(flock), "said-2");
    assertThat(next.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(next.exitValue()).isEqualTo(ExitCodes.MISSING);
    assertThat(lines("said-2"))
        .singleElement()
        .asString()
        .contains("process " + one.pid() + " (", "tools/qa) has been building in ", "for 1 s");
    Files.createFile(directory.resolve("stop"));
    assertThat(one.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(lines("log")).containsExactly("begin");
  }

  @Test
  void signalEndsMavenAndItsChildren() throws IOException, InterruptedException {
    Process script = build("sleep 1000 & echo $! > $DIR/new; mv $DIR/new $DIR/child; wait; :");
    awaitLine("child");
    List<ProcessHandle> started = script.descendants().toList();
    String child = lines("child").getFirst();
    assertThat(started).anyMatch(process -> child.equals(Long.toString(process.pid())));
    script.destroy();
    assertThat(script.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(script.exitValue()).isEqualTo(143);
    for (ProcessHandle process : started) {
      process.onExit().orTimeout(20, TimeUnit.SECONDS).join();
    }
  }

  @Test
  void lockThatCannotBeWrittenIsNamedWithTheReason() throws IOException, InterruptedException {
    Files.createDirectories(directory.resolve("root/target/weft/lock"));
    Process script = build("exit 1");
    assertThat(script.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(script.exitValue()).isEqualTo(ExitCodes.MISSING);
    assertThat(lines("said"))
        .singleElement()
        .asString()
        .contains("target/weft/lock cannot be written: Is a directory");
  }
}
