// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ForeignDirectoryTest {

  private static final int SOMEBODY = 65_534;
  private static final int SOMEBODY_ELSE = 65_533;

  @TempDir Path directory;

  private static void give(Path path, int user) throws IOException {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can give files away");
    Files.setAttribute(path, "unix:uid", user, LinkOption.NOFOLLOW_LINKS);
  }

  @Test
  void linksOfTheUserAreFollowed() throws IOException {
    Path real = Files.createDirectory(directory.resolve("real"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("real"));
    ForeignDirectory.make(link.resolve("in/it"));
    ForeignDirectory.make(link);
    assertThat(real.resolve("in/it")).isDirectory();
    NewFile.write(link.resolve("in/it/file"), new byte[1]);
    assertThat(real.resolve("in/it/file")).hasBinaryContent(new byte[1]);
  }

  @Test
  void linkOfAnotherUserIsNotFollowed() throws IOException {
    Path real = Files.createDirectory(directory.resolve("real"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), real);
    give(link, SOMEBODY);
    for (Path made : new Path[] {link, link.resolve("in/it")}) {
      assertThatThrownBy(() -> ForeignDirectory.make(made))
          .isInstanceOf(FileSystemException.class)
          .hasMessageContainingAll(link.toString(), "symbolic link", "remove it");
    }
    assertThatThrownBy(() -> NewFile.write(link.resolve("file"), new byte[1]))
        .hasMessageContaining("symbolic link");
    assertThatThrownBy(() -> NewFile.beginPrivate(link.resolve("file")))
        .hasMessageContaining("symbolic link");
    assertThat(real).isEmptyDirectory();
  }

  /// The owner of the directory can move the user's own links into it.
  @Test
  void ownLinkInTheDirectoryOfAnotherUserIsNotFollowed() throws IOException {
    Path victim = Files.writeString(directory.resolve("victim"), "mine");
    Path theirs = Files.createDirectory(directory.resolve("theirs"));
    Files.createSymbolicLink(theirs.resolve("file"), victim);
    Files.createSymbolicLink(theirs.resolve("directory"), directory);
    give(theirs, SOMEBODY);
    assertThatThrownBy(() -> NewFile.write(theirs.resolve("file"), new byte[1]))
        .hasMessageContaining("symbolic link");
    assertThat(NewFile.obstacle(theirs.resolve("file"))).isPresent();
    assertThatThrownBy(() -> ForeignDirectory.make(theirs.resolve("directory")))
        .hasMessageContaining("symbolic link");
    assertThat(victim).hasContent("mine");
  }

  /// The link leads to one that another user has created.
  @Test
  void aLinkBehindALinkIsCheckedToo() throws IOException {
    Path second = Files.createSymbolicLink(directory.resolve("second"), directory);
    Path first = Files.createSymbolicLink(directory.resolve("first"), Path.of("second"));
    give(second, SOMEBODY);
    assertThatThrownBy(() -> ForeignDirectory.make(first)).hasMessageContaining("symbolic link");
  }

  /// An example is the home directory of a project that its owner has moved: the user has named the
  /// path through the link.
  @Test
  void aLinkOfTheDirectorysOwnerIsFollowed() throws IOException {
    Path theirs = Files.createDirectory(directory.resolve("theirs"));
    Files.createDirectory(theirs.resolve("version-2"));
    Path link = Files.createSymbolicLink(theirs.resolve("current"), Path.of("version-2"));
    give(link, SOMEBODY);
    give(theirs, SOMEBODY);
    ForeignDirectory.make(link.resolve("out"));
    assertThat(theirs.resolve("version-2/out")).isDirectory();
    give(link, SOMEBODY_ELSE);
    assertThatThrownBy(() -> ForeignDirectory.make(link.resolve("out")))
        .hasMessageContaining("symbolic link");
  }

  @Test
  void cyclicLinksAreAnError() throws IOException {
    Path one = directory.resolve("one");
    Files.createSymbolicLink(one, Path.of("two"));
    Files.createSymbolicLink(directory.resolve("two"), Path.of("one"));
    assertThatThrownBy(() -> ForeignDirectory.make(one.resolve("in")))
        .isInstanceOf(FileSystemException.class);
  }

  @Test
  void permissionsOfAFileOfAnotherUserAreNotKept() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "theirs");
    Files.setPosixFilePermissions(
        file, java.nio.file.attribute.PosixFilePermissions.fromString("rw-rw-rw-"));
    give(file, SOMEBODY);
    NewFile.write(file, new byte[1]);
    assertThat(Files.getPosixFilePermissions(file))
        .doesNotContain(java.nio.file.attribute.PosixFilePermission.OTHERS_WRITE);
  }

  @Test
  void pipeInPlaceOfADirectoryIsNotOpened() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertThatThrownBy(() -> ForeignDirectory.entries(pipe, "*"))
        .isInstanceOf(NotDirectoryException.class);
    assertThatThrownBy(() -> ForeignDirectory.entries(directory.resolve("none"), "*"))
        .isInstanceOf(NoSuchFileException.class);
    assertThat(ForeignDirectory.entries(directory, "p*")).containsExactly(pipe);
  }
}
