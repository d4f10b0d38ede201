// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class ForeignFileTest {

  private static final int NOBODY = 65_534;
  private static final int SOMEBODY = 65_533;

  @TempDir Path directory;
  private Path file;

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(directory.resolve("file"), "text");
  }

  private Path fifo() throws Exception {
    Path fifo = directory.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    return fifo;
  }

  private static void refused(ForeignFile file, Path path, String why) {
    assertThatThrownBy(() -> file.bytes(100))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(path.toString())
        .hasMessageContaining(why);
  }

  @Test
  void aRegularFileIsReadUpToItsBound() throws IOException {
    assertThat(ForeignFile.found(file).text(4)).isEqualTo("text");
    assertThat(ForeignFile.named(file).bytes(4))
        .isEqualTo("text".getBytes(StandardCharsets.US_ASCII));
    assertThatThrownBy(() -> ForeignFile.named(file).bytes(3))
        .hasMessageContaining("longer than 3 bytes");
  }

  @Test
  void aPipeIsRefusedWithoutWaitingForItsWriter() throws Exception {
    Path fifo = fifo();
    refused(ForeignFile.found(fifo), fifo, "a FIFO, a socket or a device, not a regular file");
    refused(ForeignFile.named(fifo), fifo, "a FIFO, a socket or a device, not a regular file");
    Path link = Files.createSymbolicLink(directory.resolve("link"), fifo);
    refused(ForeignFile.named(link), link, "a FIFO, a socket or a device, not a regular file");
  }

  @Test
  void aDeviceAndADirectoryAreRefused() {
    refused(ForeignFile.named(Path.of("/dev/zero")), Path.of("/dev/zero"), "device");
    refused(ForeignFile.named(directory), directory, "a directory");
  }

  @Test
  void aLinkIsFollowedOnlyIfTheUserNamedIt() throws IOException {
    Path link = Files.createSymbolicLink(directory.resolve("link"), file);
    assertThat(ForeignFile.named(link).text(9)).isEqualTo("text");
    refused(ForeignFile.found(link), link, "a symbolic link");
    Path zero = Files.createSymbolicLink(directory.resolve("zero"), Path.of("/dev/zero"));
    refused(ForeignFile.named(zero), zero, "device");
  }

  @Test
  void anAbsentFileIsReportedAsMissing() {
    assertThatThrownBy(() -> ForeignFile.named(directory.resolve("none")).bytes(1))
        .isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> ForeignFile.found(directory.resolve("none")).bytes(1))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void aFilePlantedByAnotherUserIsRefused() throws IOException {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can give files away");
    Path shared = Files.createDirectory(directory.resolve("shared"));
    Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
    Path planted = Files.writeString(shared.resolve("planted"), "x");
    Files.setAttribute(planted, "unix:uid", SOMEBODY);
    refused(ForeignFile.found(planted), planted, "belongs to another user");
    Files.setAttribute(shared, "unix:uid", NOBODY);
    refused(ForeignFile.found(planted), planted, "belongs to another user");
    Files.setAttribute(planted, "unix:uid", NOBODY); // another user's file in that user's directory
    assertThat(ForeignFile.found(planted).text(1)).isEqualTo("x");
  }

  /// A reader sees one complete file whenever another file replaces it.
  @Test
  void aFileThatIsReplacedRepeatedlyIsRead() throws Exception {
    Files.writeString(file, "text");
    var done = new AtomicBoolean();
    Thread replacing =
        Thread.ofPlatform()
            .start(
                () -> {
                  Path next = directory.resolve("next");
                  try {
                    while (!done.get()) {
                      Files.writeString(next, "text");
                      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
                    }
                  } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                  }
                });
    try {
      for (int i = 0; i < 5000; i++) {
        assertThat(ForeignFile.found(file).text(4)).isEqualTo("text");
      }
    } finally {
      done.set(true);
      replacing.join();
    }
  }

  @Test
  void bytesThatAreNotUtf8AreRefused() throws IOException {
    Files.write(file, new byte[] {(byte) 0xff, (byte) 0xfe});
    assertThatThrownBy(() -> ForeignFile.named(file).text(9)).hasMessageContaining("UTF-8");
  }
}
