// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/// The ownership of files, by numeric user ids, where files have owners. Links are not followed.
final class FileOwner {

  private static final String USER = "unix:uid";
  private static final Path SELF = Path.of("/proc/self/");
  private static final Integer ROOT = 0;

  private FileOwner() {}

  /// Returns whether this process may read the file, because its owner is this user, root, or the
  /// owner of its directory. True if the owner cannot be determined.
  static boolean isTrusted(Path file) throws IOException {
    return isOwn(file) || isOfDirectory(file);
  }

  /// Returns whether this process may write through the link, because this user or root owns both
  /// the link and its directory. The owner of the directory could move any link into it. True if
  /// the owner cannot be determined.
  static boolean isOwnLink(Path link) throws IOException {
    Path directory = link.toAbsolutePath().getParent();
    return isOwn(link) && (directory == null || isOwn(directory.toRealPath()));
  }

  /// Returns whether this user or root owns the file. True if the owner cannot be determined.
  static boolean isOwn(Path file) throws IOException {
    if (!hasOwners(file)) {
      return true;
    }
    Object owner = Files.getAttribute(file, USER, LinkOption.NOFOLLOW_LINKS);
    return owner.equals(ROOT)
        || (Files.exists(SELF) && owner.equals(Files.getAttribute(SELF, USER)));
  }

  /// Returns whether the file and its directory have the same owner.
  static boolean isOfDirectory(Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    return directory != null
        && hasOwners(file)
        && Files.getAttribute(file, USER, LinkOption.NOFOLLOW_LINKS)
            .equals(Files.getAttribute(directory, USER));
  }

  static String name(Path file) throws IOException {
    return Files.getOwner(file, LinkOption.NOFOLLOW_LINKS).getName();
  }

  private static boolean hasOwners(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("unix");
  }
}
