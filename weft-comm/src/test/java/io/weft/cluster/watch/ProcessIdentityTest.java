// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class ProcessIdentityTest {

  @TempDir Path directory;

  @Test
  void theParsedTextEqualsTheIdentity() {
    ProcessIdentity local = ProcessIdentity.local();
    assertThat(ProcessIdentity.parse(local.toString())).isEqualTo(local);
    assertThat(ProcessIdentity.parse("simulated rank 3")).isNull();
    assertThat(ProcessIdentity.parse("x@1@pid:[1]")).isNull();
    assertThat(ProcessIdentity.parse("")).isNull();
  }

  @Test
  void thisProcessAndOtherNamespacesHaveNoCondition() {
    ProcessIdentity local = ProcessIdentity.local();
    assertThat(local.condition()).isEmpty();
    assertThat(new ProcessIdentity(1, 0, "pid:[1]").condition()).isEmpty();
    assertThat(new ProcessIdentity(1, 0, "").condition()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "T, is stopped by a signal (state T)",
    "t, is stopped by a debugger (state t)",
    "Z, has ended (state Z)",
    "S, is there (state S): a long pause",
    "D, waits for a disk"
  })
  void theStateIsFoundAfterAnyProgramName(String state, String words) throws Exception {
    Path stat = directory.resolve("stat");
    Files.writeString(stat, "7 (a) R (b) " + state + " 1 7 7 0 -1");
    ProcessIdentity anybody = new ProcessIdentity(Long.MAX_VALUE, 0, "");
    assertThat(anybody.condition(stat)).contains(words);
    assertThat(anybody.condition(directory.resolve("none"))).contains("has ended");
  }

  @Test
  void stoppedAndEndedProcessesAreDistinguished() throws Exception {
    assumeTrue(Files.isReadable(Path.of("/proc/self/stat")), "needs /proc");
    Process sleeper = new ProcessBuilder("sleep", "1000").start();
    try {
      ProcessIdentity identity = ProcessIdentity.of(sleeper.toHandle());
      assertThat(identity.condition()).contains("its process " + sleeper.pid() + " is there");
      assertThat(identity.isStopped()).isFalse();
      signal("STOP", sleeper);
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (!identity.condition().contains("state T") && System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      assertThat(identity.condition()).contains("is stopped by a signal (state T)");
      assertThat(identity.isStopped()).isTrue();
      var another =
          new ProcessIdentity(
              identity.pid(), identity.startMillis() - 100_000, identity.namespace());
      assertThat(another.condition()).endsWith("has ended");
      sleeper.destroyForcibly();
      assertThat(sleeper.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(identity.condition()).contains("has ended");
    } finally {
      sleeper.destroyForcibly();
    }
  }

  private static void signal(String name, Process process) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    assertThat(kill.waitFor(20, TimeUnit.SECONDS)).isTrue();
  }

  /// The start is the kernel's start time, which does not change when a clock is set.
  @Test
  void theStartOnThisHostIsTheKernelsStartTime() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/stat")), "no /proc");
    Process process = new ProcessBuilder("sleep", "60").start();
    try {
      String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
      assertThat(ProcessIdentity.startOnThisHost(process.toHandle()))
          .isEqualTo(stat.split(" ")[21])
          .matches("[1-9][0-9]*");
    } finally {
      process.destroyForcibly();
    }
  }
}
