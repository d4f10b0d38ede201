// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that a launcher and all its processes end when readers pause or leave, when ssh does not
/// respond, or when the launcher is killed.
@Timeout(120)
class LauncherFaultsTest {

  private static final long LIMIT_SECONDS = 30;

  @TempDir private Path directory;

  private Process start(ProcessBuilder builder, String script) throws IOException {
    builder.command().addAll(List.of("--", "sh", "-c", script));
    builder.environment().put("DIR", directory.toString());
    builder.environment().put("TMPDIR", directory.toString());
    return builder.start();
  }

  private static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + Duration.ofSeconds(LIMIT_SECONDS).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("nanoseconds left").isNegative();
      LockSupport.parkNanos(20_000_000);
    }
  }

  private ProcessHandle written(String file) {
    return ProcessHandle.of(Long.parseLong(line(file))).orElseThrow();
  }

  /// Waits until the file has a complete line and returns its text.
  private String line(String file) {
    Path path = directory.resolve(file);
    var read = new StringBuilder();
    await(
        () -> {
          try {
            read.setLength(0);
            read.append(Files.exists(path) ? Files.readString(path) : "");
          } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
          }
          return read.indexOf("\n") > 0;
        });
    return read.toString().strip();
  }

  private static void assertEnded(List<ProcessHandle> processes) {
    await(() -> processes.stream().noneMatch(ProcessHandle::isAlive));
  }

  @Test
  void jobEndsWhenTheReaderOfItsOutputLeaves() throws Exception {
    ProcessBuilder builder = CommandProcess.of("run", "-np", "1");
    builder.redirectError(directory.resolve("err").toFile());
    Process launcher =
        start(builder, "echo $$ > $DIR/rank.new; mv $DIR/rank.new $DIR/rank; exec yes");
    ProcessHandle rank = written("rank");
    try (var out = launcher.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).isEqualTo("[0] y");
    }
    assertThat(launcher.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isEqualTo(ExitCodes.FAILED);
    assertEnded(List.of(rank));
    assertThat(directory.resolve("err"))
        .content()
        .isEqualTo(
            "weft: standard output takes nothing more, since its reader has gone or its disk is"
                + " full; ending 1 rank\n");
  }

  @Test
  void standardOutputThatWasClosedBeforeTheStartIsReported() throws Exception {
    ProcessBuilder builder = CommandProcess.of("run", "-np", "1");
    builder.command().addAll(0, List.of("sh", "-c", "exec \"$@\" >&-", "sh"));
    builder.redirectError(directory.resolve("err").toFile());
    Process launcher = start(builder, "echo said");
    assertThat(launcher.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isEqualTo(ExitCodes.FAILED);
    assertThat(directory.resolve("err"))
        .content()
        .contains("standard output: it was closed before this command began")
        .doesNotContain("disk");
  }

  /// The output has no active reader, as behind an idle pager.
  @Test
  void signalEndsJobWhoseOutputIsNotRead() throws Exception {
    assumeTrue(Files.isDirectory(Path.of("/proc/self")), "needs /proc to see who waits");
    ProcessBuilder builder = CommandProcess.of("run", "-np", "1");
    Process launcher =
        start(
            builder.redirectErrorStream(true),
            "echo $$ > $DIR/rank.new; mv $DIR/rank.new $DIR/rank; exec yes >&2");
    ProcessHandle rank = written("rank");
    var looks = new ArrayList<Boolean>();
    await(
        () -> {
          looks.add(sleeps(rank));
          return looks.size() > 20
              && !looks.subList(looks.size() - 20, looks.size()).contains(false);
        });
    launcher.destroy();
    assertThat(launcher.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isEqualTo(143);
    assertEnded(List.of(rank));
  }

  private static boolean sleeps(ProcessHandle process) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
    } catch (IOException gone) {
      return false;
    }
  }

  @Test
  void slowReaderGetsTheWholeOutput() throws Exception {
    Process launcher =
        start(CommandProcess.of("run", "-np", "1"), "seq 100000; echo $$ > $DIR/end");
    // The output is longer than pipes hold, so the rank ends only after it is read.
    LockSupport.parkNanos(Duration.ofSeconds(2).toNanos());
    try (var out = launcher.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.lines().reduce((first, last) -> last)).contains("[0] 100000");
    }
    assertThat(launcher.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isEqualTo(ExitCodes.DONE);
  }

  @Test
  @Needs(OptionalProgram.SETSID)
  void killedLauncherLeavesNoProcessAndNoSecret() throws Exception {
    ProcessBuilder builder = CommandProcess.of("run", "-np", "2");
    Process launcher =
        start(
            builder,
            "env -i sleep 101 & setsid sleep 102 & echo $! > $DIR/apart.$WEFT_RANK;"
                + " dirname $WEFT_SECRET_FILE > $DIR/secret;"
                + " sleep 103; :");
    List<ProcessHandle> all = new ArrayList<>(List.of(written("apart.0"), written("apart.1")));
    await(() -> launcher.descendants().count() >= 8);
    launcher.descendants().filter(LauncherFaultsTest::isRanks).forEach(all::add);
    assertThat(all).hasSizeGreaterThanOrEqualTo(8);
    Path secret = Path.of(line("secret").lines().findFirst().orElseThrow());
    assertThat(secret).isDirectory();
    launcher.destroyForcibly();
    assertEnded(all);
    await(() -> !Files.exists(secret));
  }

  /// Returns true for all processes except the watch, which ends last.
  private static boolean isRanks(ProcessHandle process) {
    return !process.info().commandLine().orElse("").contains("weft-watch");
  }

  /// Simulates a full disk: no file of the launcher may be longer than 16 KiB.
  @Test
  void outputIsShownEvenIfTheDiskIsFull() throws Exception {
    ProcessBuilder builder =
        CommandProcess.of("run", "-np", "1", "--output-dir", directory.resolve("kept").toString());
    builder.command().addAll(0, List.of("sh", "-c", "ulimit -f 32; exec \"$@\"", "sh"));
    builder.redirectError(directory.resolve("err").toFile());
    Process launcher = start(builder, "seq 20000; echo all >&2");
    try (var out = launcher.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.lines().reduce((first, last) -> last)).contains("[0] 20000");
    }
    assertThat(launcher.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isEqualTo(ExitCodes.DONE);
    assertThat(directory.resolve("err"))
        .content()
        .contains("[0] all")
        .containsOnlyOnce("the rest of the output of rank 0 on localhost is not kept in ")
        .contains("kept/rank.0/stdout: File too large; the job goes on");
  }

  private Path deafSsh(String script) throws IOException {
    Path ssh = directory.resolve("ssh");
    Files.writeString(ssh, "#!/bin/sh\necho $$ > " + directory + "/deaf\n" + script);
    Files.setPosixFilePermissions(ssh, PosixFilePermissions.fromString("rwx------"));
    return ssh;
  }

  @Test
  void signalEndsLauncherWhoseSshHangsOnItsConfiguration() throws Exception {
    Path ssh = deafSsh("sleep 1000; :\n");
    Process launcher =
        start(CommandProcess.of("run", "-H", "far", "--ssh", ssh.toString()), "true");
    await(() -> launcher.descendants().anyMatch(LauncherFaultsTest::isSleeping));
    List<ProcessHandle> started =
        launcher.descendants().filter(LauncherFaultsTest::isRanks).toList();
    launcher.destroy();
    assertThat(launcher.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isEqualTo(143);
    assertThat(started).hasSizeGreaterThanOrEqualTo(2);
    assertEnded(started);
  }

  @Test
  void signalEndsLauncherWhoseSshReadsNoInput() throws Exception {
    Path ssh = deafSsh("case $* in *-G*) echo hostname 127.0.0.1;; *) exec sleep 1000;; esac\n");
    ProcessBuilder builder =
        CommandProcess.of(
            "run", "-H", "far", "--ssh", ssh.toString(), "-x", "ONE=" + "x".repeat(100_000));
    Process launcher = start(builder, "true");
    await(() -> launcher.descendants().anyMatch(LauncherFaultsTest::isSleeping));
    ProcessHandle deaf =
        launcher.descendants().filter(LauncherFaultsTest::isSleeping).findFirst().orElseThrow();
    launcher.destroy();
    assertThat(launcher.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(launcher.exitValue()).isEqualTo(143);
    assertEnded(List.of(deaf));
  }

  private static boolean isSleeping(ProcessHandle process) {
    return process.info().commandLine().orElse("").contains("sleep 1000");
  }
}
