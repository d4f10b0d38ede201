// SPDX-License-Identifier: Apache-2.0
package io.weft.natives;

import io.weft.comm.CommException;
import io.weft.file.ForeignDirectory;
import io.weft.file.LockFile;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A lock by which one process of a host at a time works in a directory. The system releases the
/// lock when its process ends; the lock file stays.
public final class UnpackLock {

  private static final Logger LOG = LoggerFactory.getLogger(UnpackLock.class);
  private static final String FILE = ".weft.lock";
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  // The system's lock is per process, so threads of this process take this lock first.
  private static final ReentrantLock HERE = new ReentrantLock();

  private UnpackLock() {}

  /// Runs `work` while no other process that calls this works in `directory`. If the directory
  /// cannot be locked, because it is read-only or its file system has no locks, the work runs at
  /// once: either nothing can be unpacked there, or exclusion cannot be achieved. Throws
  /// `CommException.Setup` if others take longer than `limit`, or if the lock file is not a regular
  /// file.
  ///
  /// @param what name of the unpacked libraries, for messages
  public static void alone(Path directory, String what, Duration limit, Runnable work) {
    Objects.requireNonNull(what, "what");
    requireFile(directory, FILE, what);
    long start = System.nanoTime();
    long nanos =
        limit.compareTo(Duration.ofDays(365)) > 0 ? Long.MAX_VALUE : ClampedDuration.nanos(limit);
    try {
      if (!HERE.tryLock(nanos, TimeUnit.NANOSECONDS)) {
        throw late(directory, what, limit);
      }
    } catch (InterruptedException e) {
      throw interrupted(what, e);
    }
    try (FileChannel channel = open(directory);
        FileLock _ = lock(channel, directory, what, start, nanos, limit)) {
      work.run();
    } catch (IOException unlockable) {
      LOG.debug("unpacks {} without a lock of {}", what, directory, unlockable);
      work.run();
    } finally {
      HERE.unlock();
    }
  }

  /// Throws `CommException.Setup` if a lock file of the directory is not a regular file, such as a
  /// pipe, whose opening would wait forever.
  public static void requireFile(Path directory, String lock, String what) {
    Objects.requireNonNull(what, "what");
    try {
      LockFile.check(directory.resolve(lock));
    } catch (FileSystemException other) {
      throw new CommException.Setup(
          what + " cannot be unpacked: " + IoErrors.words(other) + "; remove it", other);
    }
  }

  private static FileChannel open(Path directory) throws IOException {
    ForeignDirectory.make(directory);
    return LockFile.make(directory.resolve(FILE));
  }

  private static FileLock lock(
      FileChannel channel, Path directory, String what, long start, long nanos, Duration limit)
      throws IOException {
    while (true) {
      FileLock lock = channel.tryLock();
      if (lock != null) {
        return lock;
      }
      if (System.nanoTime() - start >= nanos) {
        throw late(directory, what, limit);
      }
      LockSupport.parkNanos(LOOK_NANOS);
      if (Thread.interrupted()) {
        throw interrupted(what, new InterruptedException());
      }
    }
  }

  private static CommException.Setup late(Path directory, String what, Duration limit) {
    return new CommException.Setup(
        ("another process has been unpacking %s into %s for %d s (it holds the lock of %s): check"
                + " if it is stopped and end it, or raise --start-deadline")
            .formatted(what, directory, limit.toSeconds(), directory.resolve(FILE)),
        null);
  }

  private static CommException.Setup interrupted(String what, InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new CommException.Setup(
        "interrupted while another process was unpacking " + what, cause);
  }
}
