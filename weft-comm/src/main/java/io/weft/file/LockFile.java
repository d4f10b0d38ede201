// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;

/// A file that several processes of a host lock in turn, in a directory in which another user may
/// have put something else under its name. Stateless; any thread that may block.
public final class LockFile {

  // Includes READ, because opening a pipe for both directions does not block.
  private static final Set<OpenOption> THERE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> MADE =
      Set.of(
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          StandardOpenOption.CREATE,
          LinkOption.NOFOLLOW_LINKS);

  private LockFile() {}

  /// Opens the file, creating it if necessary; the caller closes it. Does not wait. Throws
  /// `FileSystemException` if it is not a regular file.
  public static FileChannel make(Path file) throws IOException {
    check(file);
    return FileChannel.open(file, MADE);
  }

  /// Opens an existing file; the caller closes it. Throws `NoSuchFileException` if it does not
  /// exist, and otherwise as `make` does.
  public static FileChannel open(Path file) throws IOException {
    check(file);
    return FileChannel.open(file, THERE);
  }

  /// Throws `FileSystemException` if the file exists and is not a regular file.
  public static void check(Path file) throws FileSystemException {
    BasicFileAttributes there;
    try {
      there = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException none) {
      return;
    }
    if (!there.isRegularFile()) {
      throw new FileSystemException(
          file.toString(), null, FileKind.of(there) + ", not a regular file");
    }
  }
}
