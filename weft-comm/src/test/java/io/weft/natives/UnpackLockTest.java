// SPDX-License-Identifier: Apache-2.0
package io.weft.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class UnpackLockTest {

  @TempDir Path directory;

  @Test
  void theLockOfAnotherProcessIsAwaitedAndFreedByItsDeath() throws Exception {
    Process other =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                HoldingProgram.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    AtomicInteger runs = new AtomicInteger();
    try (BufferedReader said = other.inputReader()) {
      assertThat(said.readLine()).isEqualTo("holds");
      assertThatThrownBy(
              () ->
                  UnpackLock.alone(
                      directory, "a library", Duration.ofMillis(300), runs::incrementAndGet))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("another process has been unpacking a library into " + directory)
          .hasMessageContaining("--start-deadline");
      assertThat(runs).hasValue(0);
      other.destroyForcibly();
      assertThat(other.waitFor(60, TimeUnit.SECONDS)).isTrue();
      UnpackLock.alone(directory, "a library", Duration.ofSeconds(60), runs::incrementAndGet);
      assertThat(runs).hasValue(1);
    } finally {
      other.destroyForcibly();
    }
  }

  @Test
  void theWorkRunsInADirectoryThatCannotBeLocked() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    AtomicInteger runs = new AtomicInteger();
    UnpackLock.alone(file, "a library", Duration.ofSeconds(60), runs::incrementAndGet);
    assertThat(runs).hasValue(1);
  }

  @Test
  void aFailureOfTheWorkIsThrownAndReleasesTheLock() {
    IllegalStateException failure = new IllegalStateException("no space");
    assertThatThrownBy(
            () ->
                UnpackLock.alone(
                    directory,
                    "a library",
                    Duration.ofSeconds(60),
                    () -> {
                      throw failure;
                    }))
        .isSameAs(failure);
    AtomicInteger runs = new AtomicInteger();
    UnpackLock.alone(directory, "a library", Duration.ofSeconds(60), runs::incrementAndGet);
    assertThat(runs).hasValue(1);
  }
}
