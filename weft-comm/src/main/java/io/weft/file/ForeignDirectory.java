// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/// Operations on directories that another user may have prepared. A directory is checked before it
/// is opened, because opening a pipe would wait for its writer, and because another user's link
/// must not redirect files written into it. Stateless; any thread that may block.
public final class ForeignDirectory {

  private static final int MOST_LINKS = 40;

  private ForeignDirectory() {}

  /// Creates the directory and its parents if they do not exist. Throws `FileSystemException` if a
  /// file is in the way. Also throws it for a symbolic link that another user can have put there:
  /// another user owns the link or its directory. In a parent's place, a link whose owner also owns
  /// its directory is accepted.
  public static void make(Path directory) throws IOException {
    requireOwnWay(directory);
    Files.createDirectories(directory);
  }

  /// Returns the entries of the directory whose names match the glob pattern, in unspecified order.
  /// Throws `NoSuchFileException` if the directory does not exist, and `NotDirectoryException` if
  /// it is not a directory.
  public static List<Path> entries(Path directory, String glob) throws IOException {
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw new NotDirectoryException(directory.toString());
    }
    List<Path> found = new ArrayList<>();
    try (var entries = Files.newDirectoryStream(directory, glob)) {
      entries.forEach(found::add);
    } catch (DirectoryIteratorException unreadable) {
      throw unreadable.getCause();
    }
    return found;
  }

  /// Waits until the directory's entries are on the disk.
  public static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /// Throws `FileSystemException` for the links for which `make` does.
  static void requireOwnWay(Path directory) throws IOException {
    follow(directory.toAbsolutePath(), true, MOST_LINKS);
  }

  private static void follow(Path path, boolean isLast, int links) throws IOException {
    Path at = path.getRoot();
    int names = path.getNameCount();
    for (int i = 0; at != null && i < names; i++) {
      at = at.resolve(path.getName(i));
      BasicFileAttributes there;
      try {
        there = Files.readAttributes(at, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      } catch (NoSuchFileException none) {
        return;
      }
      if (there.isSymbolicLink()) {
        boolean last = isLast && i == names - 1;
        if (!FileOwner.isOwnLink(at) && (last || !FileOwner.isOfDirectory(at))) {
          throw new FileSystemException(at.toString(), null, FileKind.foreignLink(at));
        }
        if (links > 0) {
          follow(at.resolveSibling(Files.readSymbolicLink(at)), last, links - 1);
        }
      }
    }
  }
}
