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

  /// Whether it is this user's, root's, or of whoever owns the directory that it lies in. True
  /// where that cannot be known.
  static boolean isTrusted(Path file) throws IOException {
    if (!hasOwners(file)) {
      return true;
    }
    Object owner = Files.getAttribute(file, USER, LinkOption.NOFOLLOW_LINKS);
    Path directory = file.toAbsolutePath().getParent();
    return owner.equals(ROOT)
        || (Files.exists(SELF) && owner.equals(Files.getAttribute(SELF, USER)))
        || (directory != null && owner.equals(Files.getAttribute(directory, USER)));
  }

  /// For people.
  static String name(Path file) throws IOException {
    return Files.getOwner(file, LinkOption.NOFOLLOW_LINKS).getName();
  }

  private static boolean hasOwners(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("unix");
  }
}
