// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/// Whose a file is, by numbers of users, where files have owners. Links are not followed.
final class FileOwner {

  private static final String USER = "unix:uid";
  private static final Path SELF = Path.of("/proc/self/");
  private static final Integer ROOT = 0;

  private FileOwner() {}

  /// Returns whether this process may read the file: its owner is this user, root, or the owner of
  /// the directory that it lies in. True where that cannot be known.
  static boolean isTrusted(Path file) throws IOException {
    return isOwn(file) || isOfDirectory(file);
  }

  /// Returns whether this process may write through the link: this user or root owns the link, and
  /// also the directory that it lies in, since whoever owns that one can move any link there. True
  /// where that cannot be known.
  static boolean isOwnLink(Path link) throws IOException {
    Path directory = link.toAbsolutePath().getParent();
    return isOwn(link) && (directory == null || isOwn(directory.toRealPath()));
  }

  /// Returns whether this user or root owns the file. True where that cannot be known.
  static boolean isOwn(Path file) throws IOException {
    if (!hasOwners(file)) {
      return true;
    }
    Object owner = Files.getAttribute(file, USER, LinkOption.NOFOLLOW_LINKS);
    return owner.equals(ROOT)
        || (Files.exists(SELF) && owner.equals(Files.getAttribute(SELF, USER)));
  }

  /// Returns whether the owner of the directory that the file lies in owns the file too.
  static boolean isOfDirectory(Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    return directory != null
        && hasOwners(file)
        && Files.getAttribute(file, USER, LinkOption.NOFOLLOW_LINKS)
            .equals(Files.getAttribute(directory, USER));
  }

  /// For people.
  static String name(Path file) throws IOException {
    return Files.getOwner(file, LinkOption.NOFOLLOW_LINKS).getName();
  }

  private static boolean hasOwners(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("unix");
  }
}
