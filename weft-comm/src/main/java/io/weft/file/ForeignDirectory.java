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

/// A directory that this process lists or writes into, and that somebody else may have prepared. It
/// is looked at before it is opened, since the opening of a pipe waits for whoever writes to it,
/// and no link of another user's leads what is written elsewhere. Stateless; any thread that may
/// block.
public final class ForeignDirectory {

  private static final int MOST_LINKS = 40;

  private ForeignDirectory() {}

  /// Makes the directory, and those above it, where they are not there yet. Throws
  /// `FileSystemException` where a file is in the way, or a symbolic link that another user can
  /// have put there: the link or the directory that it lies in is another user's. Above the
  /// directory itself, a link may also be of whoever owns the directory that it lies in.
  public static void make(Path directory) throws IOException {
    requireOwnWay(directory);
    Files.createDirectories(directory);
  }

  /// Returns what lies in the directory under names that match the glob pattern, in no order.
  /// Throws `NoSuchFileException` where the directory is not there, and `NotDirectoryException`
  /// where something else is.
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

  /// Waits until the names in the directory are on the disk.
  public static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /// Throws `FileSystemException` where `make` would do so because of a link.
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
