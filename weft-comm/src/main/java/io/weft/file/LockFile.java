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

/// A file whose lock several processes of a host take in turn, in a directory where somebody else
/// may have put something else under its name. Stateless; any thread that may block.
public final class LockFile {

  // For reading too: whoever opens a pipe for both waits for nobody.
  private static final Set<OpenOption> THERE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
  private static final Set<OpenOption> MADE =
      Set.of(
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          StandardOpenOption.CREATE,
          LinkOption.NOFOLLOW_LINKS);

  private LockFile() {}

  /// Opens it, made where it is not there; the caller closes. Throws `FileSystemException` where
  /// something else than a regular file is there, and waits for nobody.
  public static FileChannel make(Path file) throws IOException {
    check(file);
    return FileChannel.open(file, MADE);
  }

  /// Opens it; the caller closes. Throws `NoSuchFileException` where it is not there, else as
  /// `make`.
  public static FileChannel open(Path file) throws IOException {
    check(file);
    return FileChannel.open(file, THERE);
  }

  /// Throws `FileSystemException` where something else than a regular file is there.
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
