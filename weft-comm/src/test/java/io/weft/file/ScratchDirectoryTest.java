// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks directories that are deleted with their contents, by their owner or by a later process.
@Timeout(60)
class ScratchDirectoryTest {

  @TempDir Path parent;

  /// The program of another process, which runs until it is killed.
  static final class Holder {
    private Holder() {}

    public static void main(String[] arguments) throws Exception {
      ScratchDirectory own = ScratchDirectory.create(Path.of(arguments[0]), "rows");
      Files.writeString(own.path().resolve("content"), "of nobody's use later");
      System.out.println(own.path());
      System.out.flush();
      var unused = System.in.read();
    }
  }

  private Process holder() throws IOException {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElseThrow(),
            "-cp",
            System.getProperty("java.class.path"),
            Holder.class.getName(),
            parent.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  @Test
  void theDirectoryIsPrivateAndDeletedOnClose() throws IOException {
    Path below = parent.resolve("a").resolve("b");
    Path path;
    try (ScratchDirectory own = ScratchDirectory.create(below, "rows");
        ScratchDirectory other = ScratchDirectory.create(below, "rows")) {
      path = own.path();
      assertThat(other.path()).isNotEqualTo(path);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rwx------");
      Files.createDirectories(path.resolve("deep").resolve("deeper"));
      Files.writeString(path.resolve("deep").resolve("file"), "content");
      Files.createSymbolicLink(path.resolve("link"), Files.createFile(parent.resolve("kept")));
    }
    assertThat(below).isEmptyDirectory();
    assertThat(parent.resolve("kept")).exists();
  }

  @Test
  void onlyTheDirectoryOfAKilledProcessIsDeleted() throws Exception {
    Path foreign = Files.createDirectory(parent.resolve("rows-of-somebody"));
    Process holder = holder();
    try {
      Path its = Path.of(holder.inputReader().readLine());
      try (ScratchDirectory own = ScratchDirectory.create(parent, "rows")) {
        assertThat(its.resolve("content")).exists();
        holder.destroyForcibly().waitFor();
        try (ScratchDirectory next = ScratchDirectory.create(parent, "rows")) {
          assertThat(its).doesNotExist();
          assertThat(own.path()).exists();
          assertThat(next.path()).exists();
        }
      }
    } finally {
      holder.destroyForcibly();
    }
    try (var left = Files.list(parent)) {
      assertThat(left).containsExactly(foreign);
    }
  }
}
