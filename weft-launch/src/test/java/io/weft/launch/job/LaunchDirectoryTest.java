// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.JvmCommand;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LaunchDirectoryTest {

  /// Another launcher, which prints the path of its secret and runs until its input ends.
  public static final class Other {

    private Other() {}

    /// Creates a directory and waits.
    public static void main(String[] arguments) throws Exception {
      try (LaunchDirectory directory = LaunchDirectory.create()) {
        Files.writeString(directory.secret(), "secret");
        System.out.println(directory.secret());
        while (System.in.read() >= 0) {
          System.out.println("still there");
        }
      }
    }
  }

  private static Process other() throws Exception {
    return new ProcessBuilder(JvmCommand.of(Other.class))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  @Test
  void directoryOfAKilledLauncherIsRemovedByTheNext() throws Exception {
    Process other = other();
    try (var lines = other.inputReader(StandardCharsets.UTF_8)) {
      Path secret = Path.of(lines.readLine());
      LaunchDirectory.create().close();
      assertThat(secret).exists();
      other.destroyForcibly();
      assertThat(other.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(secret).exists();
      LaunchDirectory.create().close();
      assertThat(secret.getParent()).doesNotExist();
    } finally {
      other.destroyForcibly();
    }
  }

  @Test
  void closeRemovesTheDirectoryWithItsContents() throws Exception {
    LaunchDirectory directory = LaunchDirectory.create();
    Path below = Files.createDirectory(directory.secret().resolveSibling("more"));
    Files.writeString(below.resolve("file"), "text");
    Path path = directory.secret().getParent();
    assertThat(Files.getPosixFilePermissions(path)).hasSize(3);
    directory.close();
    assertThat(path).doesNotExist();
  }

  @Test
  void newUnlockedDirectoryIsKeptAndAnOldOneIsRemoved() throws Exception {
    Path fresh = Files.createTempDirectory("weft-job-0-");
    Path old = Files.createTempDirectory("weft-job-0-");
    try {
      Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofMinutes(5))));
      LaunchDirectory.create().close();
      assertThat(fresh).exists();
      assertThat(old).doesNotExist();
    } finally {
      Files.deleteIfExists(fresh);
    }
  }
}
