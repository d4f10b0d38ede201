// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A private directory of this process for temporary files, readable only by its owner. `close`
/// deletes it. The process holds the lock of a file next to it while it is alive, by which a later
/// process recognizes and deletes the remains of killed processes.
///
/// Owned. Any thread.
public final class ScratchDirectory implements AutoCloseable {

  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final int ATTEMPTS = 100;

  private final Path path;
  private final Path lock;
  private final FileChannel locked;

  private ScratchDirectory(Path path, Path lock, FileChannel locked) {
    this.path = path;
    this.lock = lock;
    this.locked = locked;
  }

  /// Creates a directory, and deletes those with the same prefix that killed processes of this user
  /// have left.
  ///
  /// @param parent the parent, created if it does not exist
  /// @param prefix the prefix of the name, followed by a unique part
  public static ScratchDirectory create(Path parent, String prefix) throws IOException {
    ForeignDirectory.make(parent);
    sweep(parent, prefix);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      String name = prefix + "-" + NewFile.PROCESS + "-" + NewFile.random();
      Path lock = parent.resolve(name + ".lock");
      FileChannel locked =
          FileChannel.open(lock, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
      if (NewFile.isLocked(locked, lock)) {
        try {
          Path path = Files.createDirectory(parent.resolve(name), OWNER_ONLY);
          return new ScratchDirectory(path, lock, locked);
        } catch (IOException refused) {
          locked.close();
          Files.deleteIfExists(lock);
          throw refused;
        }
      }
      locked.close(); // a sweeping process intervened before the lock
    }
    throw new FileSystemException(parent.toString(), null, "others remove new entries there");
  }

  /// Where it is.
  public Path path() {
    return path;
  }

  private static void sweep(Path parent, String prefix) {
    Pattern names = Pattern.compile(Pattern.quote(prefix) + "-([0-9a-f]+)-([0-9a-f]+)\\.lock");
    try {
      for (Path lock : ForeignDirectory.entries(parent, "*.lock")) {
        String name = lock.getFileName().toString();
        Matcher matcher = names.matcher(name);
        // Entries of this process are skipped, because opening and closing another channel would
        // end its lock.
        if (matcher.matches() && !matcher.group(1).equals(NewFile.PROCESS)) {
          removeLeft(lock, parent.resolve(name.substring(0, name.length() - ".lock".length())));
        }
      }
    } catch (IOException unreadable) {
      // The directory has nothing that this user can remove.
      assert !unreadable.toString().isEmpty();
    }
  }

  private static void removeLeft(Path lock, Path left) {
    try {
      if (!FileOwner.isTrusted(lock)) {
        return;
      }
      try (FileChannel channel = LockFile.open(lock)) {
        if (channel.tryLock() != null) {
          if (Files.isDirectory(left, LinkOption.NOFOLLOW_LINKS) && FileOwner.isTrusted(left)) {
            delete(left);
          }
          Files.deleteIfExists(lock);
        }
      }
    } catch (IOException | OverlappingFileLockException inUse) {
      // Another process was faster, or this process may not remove the entry.
      assert !inUse.toString().isEmpty();
    }
  }

  private static void delete(Path directory) throws IOException {
    var unused =
        Files.walkFileTree(
            directory,
            new SimpleFileVisitor<>() {
              @Override
              public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                  throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
              }

              @Override
              public FileVisitResult visitFileFailed(Path file, IOException why)
                  throws IOException {
                if (why instanceof NoSuchFileException) {
                  return FileVisitResult.CONTINUE;
                }
                throw why;
              }

              @Override
              public FileVisitResult postVisitDirectory(Path each, @Nullable IOException why)
                  throws IOException {
                if (why != null) {
                  throw why;
                }
                Files.deleteIfExists(each);
                return FileVisitResult.CONTINUE;
              }
            });
  }

  /// Deletes the directory with its contents. Throws `IOException` if anything remains; the next
  /// directory with this prefix deletes the remains.
  @Override
  public void close() throws IOException {
    try {
      delete(path);
      Files.deleteIfExists(lock);
    } finally {
      locked.close();
    }
  }
}
