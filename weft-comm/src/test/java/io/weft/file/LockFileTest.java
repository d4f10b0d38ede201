// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LockFileTest {

  @TempDir Path directory;

  @Test
  void aLockFileIsCreatedOnceAndThenOpened() throws Exception {
    Path file = directory.resolve("lock");
    assertThatThrownBy(() -> LockFile.open(file)).isInstanceOf(NoSuchFileException.class);
    LockFile.make(file).close();
    try (FileChannel channel = LockFile.open(file)) {
      assertThat(channel.tryLock()).isNotNull();
    }
    LockFile.make(file).close();
  }

  @Test
  void pipesAndLinksAreRefusedAtOnce() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("victim"));
    for (Path other : new Path[] {pipe, link, directory}) {
      assertThatThrownBy(() -> LockFile.make(other))
          .isInstanceOf(FileSystemException.class)
          .hasMessageContainingAll(other.toString(), "not a regular file");
      assertThatThrownBy(() -> LockFile.open(other)).hasMessageContaining("not a regular file");
    }
    assertThat(directory.resolve("victim")).doesNotExist();
  }
}
