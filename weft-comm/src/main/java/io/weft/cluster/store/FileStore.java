// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import io.weft.cluster.Store;
import io.weft.comm.CommException;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.transport.limit.ClampedDuration;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// A store in a directory that only this user can enter. Each key has one file, which a writer
/// replaces by renaming, so readers never see a partial value. A writer holds the lock of the file
/// `lock`, which contains the numbers of entries and bytes. Thread-safe, also between processes.
final class FileStore implements Store {

  private static final Duration PAUSE = Duration.ofMillis(5);
  private static final int MAX_NAME = 200;
  private static final String LOCK = "lock";

  private static final Duration CHANGE_PAUSE = Duration.ofMillis(20);
  private static final Duration LOCK_PAUSE = Duration.ofMillis(1);
  private static final Duration LOCK_LIMIT = Duration.ofSeconds(10);

  private final Path directory;
  private final ReentrantLock here = new ReentrantLock();

  /// The only channel of the lock file while this object is in use, because the system releases all
  /// locks of a process on a file when the process closes any channel of it.
  private @Nullable FileChannel channel;

  FileStore(Path directory) {
    this.directory = directory;
  }

  @Override
  public void put(String key, byte[] value) {
    int keyBytes = InMemoryStore.requireShort(key, value.length);
    boolean unused = change(key, keyBytes, value, before -> true);
  }

  @Override
  public boolean putIfAbsent(String key, byte[] value) {
    int keyBytes = InMemoryStore.requireShort(key, value.length);
    return change(key, keyBytes, value, Optional::isEmpty);
  }

  @Override
  public boolean compareAndSet(String key, byte[] expected, byte[] value) {
    int keyBytes = InMemoryStore.requireShort(key, Math.max(expected.length, value.length));
    return change(
        key,
        keyBytes,
        value,
        before -> before.isPresent() && Arrays.equals(before.get(), expected));
  }

  @Override
  public void remove(String key) {
    int keyBytes = InMemoryStore.requireShort(key, 0);
    locked(
        () -> {
          Optional<byte[]> before = find(key);
          if (before.isPresent()) {
            Files.deleteIfExists(file(key));
            Usage.of(channel()).with(-1, -keyBytes - before.get().length).write(channel());
          }
          return true;
        });
  }

  private boolean change(String key, int keyBytes, byte[] value, Predicate<Optional<byte[]>> when) {
    return locked(
        () -> {
          Optional<byte[]> before = find(key);
          if (!when.test(before)) {
            return false;
          }
          Usage usage = Usage.of(channel());
          Usage after =
              before.isPresent()
                  ? usage.with(0, value.length - before.get().length)
                  : usage.with(1, keyBytes + value.length);
          if (after.entries > InMemoryStore.MAX_ENTRIES || after.bytes > InMemoryStore.MAX_BYTES) {
            throw InMemoryStore.full(Math.toIntExact(usage.entries), usage.bytes);
          }
          publish(file(key), value);
          after.write(channel());
          return true;
        });
  }

  /// The numbers of entries and bytes in the directory.
  private record Usage(long entries, long bytes) {

    private static final int BYTES = 16;

    static Usage of(FileChannel channel) throws IOException {
      ByteBuffer counts = ByteBuffer.allocate(BYTES);
      while (counts.hasRemaining() && channel.read(counts, counts.position()) > 0) {
        // Reads until the buffer is full.
      }
      return counts.hasRemaining()
          ? new Usage(0, 0)
          : new Usage(Math.max(0, counts.getLong(0)), Math.max(0, counts.getLong(8)));
    }

    Usage with(int moreEntries, long moreBytes) {
      return new Usage(Math.max(0, entries + moreEntries), Math.max(0, bytes + moreBytes));
    }

    void write(FileChannel channel) throws IOException {
      ByteBuffer counts = ByteBuffer.allocate(BYTES).putLong(entries).putLong(bytes).flip();
      while (counts.hasRemaining()) {
        int unused = channel.write(counts, counts.position());
      }
    }
  }

  // --- the lock

  /// A change that is made while this object holds the lock.
  @FunctionalInterface
  private interface Change {
    boolean make() throws IOException;
  }

  private boolean locked(Change change) {
    here.lock();
    try (FileLock lock = lock()) {
      assert lock.isValid();
      return change.make();
    } catch (IOException unwritable) {
      throw outOfReach(unwritable);
    } finally {
      here.unlock();
    }
  }

  private FileLock lock() throws IOException {
    FileChannel open = channel();
    Deadline deadline = Deadline.after(LOCK_LIMIT);
    while (true) {
      FileLock lock = tryLock(open);
      if (lock != null) {
        return lock;
      }
      if (deadline.passed()) {
        throw new IOException(
            "another rank has held the lock of " + directory.resolve(LOCK) + " for " + deadline);
      }
      LockSupport.parkNanos(ClampedDuration.nanos(LOCK_PAUSE));
    }
  }

  private static @Nullable FileLock tryLock(FileChannel open) throws IOException {
    try {
      return open.tryLock();
    } catch (OverlappingFileLockException anotherRankOfThisProcess) {
      return null;
    }
  }

  private FileChannel channel() throws IOException {
    FileChannel open = channel;
    if (open == null) {
      open =
          FileChannel.open(directory.resolve(LOCK), CREATE, READ, WRITE, LinkOption.NOFOLLOW_LINKS);
      channel = open;
    }
    return open;
  }

  // --- reads

  @Override
  public byte[] get(String key, Duration timeout) throws InterruptedException {
    InMemoryStore.requireShort(key, 0);
    Deadline deadline = Deadline.after(timeout);
    while (true) {
      Optional<byte[]> value = find(key);
      if (value.isPresent()) {
        return value.get();
      }
      if (deadline.passed()) {
        throw InMemoryStore.absent(key, "the store in " + directory, timeout);
      }
      deadline.pause(PAUSE);
    }
  }

  @Override
  public Optional<byte[]> find(String key) {
    InMemoryStore.requireShort(key, 0);
    try {
      return Optional.of(ForeignFile.found(file(key)).bytes(MAX_VALUE_BYTES));
    } catch (NoSuchFileException absent) {
      if (!Files.isDirectory(directory)) {
        throw outOfReach(absent);
      }
      return Optional.empty();
    } catch (IOException unreadable) {
      throw outOfReach(unreadable);
    }
  }

  @Override
  public Optional<byte[]> awaitChange(String key, byte[] known, Duration timeout)
      throws InterruptedException {
    InMemoryStore.requireShort(key, known.length);
    Deadline deadline = Deadline.after(timeout);
    while (true) {
      Optional<byte[]> value = find(key);
      if (value.isPresent() && !Arrays.equals(value.get(), known)) {
        return value;
      }
      if (deadline.passed()) {
        return Optional.empty();
      }
      deadline.pause(CHANGE_PAUSE);
    }
  }

  /// The name of the run's directory, which is unique.
  @Override
  public String meeting() {
    return directory.getFileName().toString();
  }

  @Override
  public void disconnect() {
    here.lock();
    try {
      FileChannel open = channel;
      channel = null;
      if (open != null) {
        open.close();
      }
    } catch (IOException alreadyGone) {
      // Closing can fail without loss, because no change is in progress.
      assert channel == null;
    } finally {
      here.unlock();
    }
  }

  @Override
  public void close() {
    disconnect();
  }

  /// Writes next to `file`, then renames. Readers see either no file or the complete file.
  static void publish(Path file, byte[] content) throws IOException {
    try (NewFile begun = NewFile.beginPrivate(file)) {
      begun.stream().write(content);
      begun.publish();
    }
  }

  private Path file(String key) {
    String name = URLEncoder.encode(key, StandardCharsets.UTF_8);
    return directory.resolve("key-" + (name.length() <= MAX_NAME ? name : digest(key)));
  }

  private static String digest(String key) {
    try {
      byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java has SHA-256", impossible);
    }
  }

  private CommException.Setup outOfReach(IOException cause) {
    return new CommException.Setup(
        "the job's store in " + directory + " is out of reach (rank 0 may have ended): " + cause,
        cause);
  }
}
