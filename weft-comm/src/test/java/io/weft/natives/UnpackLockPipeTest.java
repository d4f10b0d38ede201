// SPDX-License-Identifier: Apache-2.0
package io.weft.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class UnpackLockPipeTest {

  @TempDir Path directory;

  @Test
  @Timeout(60)
  void pipeInPlaceOfTheLockIsRefusedAtOnce() throws Exception {
    Path pipe = directory.resolve(".weft.lock");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertThatThrownBy(
            () -> UnpackLock.alone(directory, "a library", Duration.ofSeconds(60), () -> {}))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContainingAll("a library", pipe.toString(), "FIFO", "remove it");
  }
}
