// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.file.ForeignDirectory;
import io.weft.file.LockFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// A job's private directory below `java.io.tmpdir`, which contains its secret. The launcher keeps
/// a file in it locked during its lifetime, so that the next launcher can recognize and remove the
/// directory of a killed one. Owned.
final class LaunchDirectory implements AutoCloseable {

  private static final String PREFIX = "weft-job-";
  private static final String OWN_PREFIX = PREFIX + ProcessHandle.current().pid() + "-";
  private static final String LOCK = "lock";

  /// The age up to which a directory without a lock may belong to a launcher that is about to lock
  /// it; an older one was left by a killed launcher.
  private static final Duration ABOUT = Duration.ofMinutes(1);

  private final Path path;
  private final FileChannel lock;

  private LaunchDirectory(Path path, FileChannel lock) {
    this.path = path;
    this.lock = lock;
  }

  /// Creates a directory, and removes those of this user's killed launchers.
  static LaunchDirectory create() throws IOException {
    // Java creates temporary directories as private.
    Path path = Files.createTempDirectory(OWN_PREFIX);
    try {
      var directory = new LaunchDirectory(path, lock(path));
      sweep(path);
      return directory;
    } catch (IOException refused) {
      remove(path);
      throw refused;
    }
  }

  /// Locks a file before it gets its name, so that other launchers never see it unlocked.
  private static FileChannel lock(Path path) throws IOException {
    Path unnamed = path.resolve("lock.new");
    FileChannel channel =
        FileChannel.open(unnamed, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try {
      if (channel.tryLock() == null) {
        throw new IOException(unnamed + " is locked by another process");
      }
      Files.move(unnamed, path.resolve(LOCK));
      return channel;
    } catch (IOException refused) {
      channel.close();
      throw refused;
    }
  }

  Path path() {
    return path;
  }

  Path secret() {
    return path.resolve("secret");
  }

  /// Returns the directory of the ranks' flight files, unless the user names another.
  Path flights() {
    return path.resolve("flight");
  }

  /// Removes the secret, which is no longer needed.
  void removeSecret() {
    try {
      Files.deleteIfExists(secret());
    } catch (IOException left) {
      // It is removed with the directory, or by the next launcher.
      assert !left.toString().isEmpty();
    }
  }

  /// Removes the directory and its content.
  @Override
  public void close() {
    remove(path);
    try {
      lock.close();
    } catch (IOException gone) {
      // The lock ends with this process at the latest.
      assert !lock.isOpen();
    }
  }

  private static void sweep(Path own) throws IOException {
    UserPrincipal user = Files.getOwner(own);
    try {
      for (Path entry : ForeignDirectory.entries(own.resolveSibling(""), PREFIX + "*")) {
        // A process that closes a file loses all its locks on it, so this process's directories are
        // skipped.
        if (!entry.getFileName().toString().startsWith(OWN_PREFIX) && isLeft(entry, user)) {
          remove(entry);
        }
      }
    } catch (IOException unreadable) {
      // Directories that cannot be read do not belong to this user.
      assert !unreadable.toString().isEmpty();
    }
  }

  private static boolean isLeft(Path directory, UserPrincipal user) {
    try {
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)
          || !Files.getOwner(directory, LinkOption.NOFOLLOW_LINKS).equals(user)) {
        return false;
      }
      try (FileChannel channel = LockFile.open(directory.resolve(LOCK))) {
        return channel.tryLock() != null;
      }
    } catch (NoSuchFileException unlocked) {
      return isOld(directory);
    } catch (IOException | OverlappingFileLockException inUse) {
      return false;
    }
  }

  private static boolean isOld(Path directory) {
    try {
      Instant made = Files.getLastModifiedTime(directory, LinkOption.NOFOLLOW_LINKS).toInstant();
      return made.plus(ABOUT).isBefore(Instant.now());
    } catch (IOException gone) {
      return false;
    }
  }

  private static void remove(Path directory) {
    try (Stream<Path> all = Files.walk(directory)) {
      List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
      for (Path path : deepestFirst) {
        Files.deleteIfExists(path);
      }
    } catch (IOException | UncheckedIOException left) {
      // Another launcher was faster, or the directory is not this user's. The secret of a job that
      // has ended is useless.
      assert !left.toString().isEmpty();
    }
  }
}
