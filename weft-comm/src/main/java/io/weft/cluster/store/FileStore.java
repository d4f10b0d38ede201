// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.CommException;
import io.weft.cluster.Store;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;

/// A store in a directory that only this user can enter: one file for each key, which appears by
/// renaming and is therefore never seen half-written. Thread-safe, also between processes.
final class FileStore implements Store {

  private static final Duration PAUSE = Duration.ofMillis(5);
  private static final int MAX_NAME = 200;

  private final Path directory;

  FileStore(Path directory) {
    this.directory = directory;
  }

  @Override
  public void put(String key, byte[] value) {
    InMemoryStore.requireShort(key, value.length);
    try {
      publish(file(key), value);
    } catch (IOException unwritable) {
      throw outOfReach(unwritable);
    }
  }

  @Override
  public byte[] get(String key, Duration timeout) throws InterruptedException {
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

  /// The run's directory has a name of its own.
  @Override
  public String meeting() {
    return directory.getFileName().toString();
  }

  @Override
  public void close() {}

  /// Writes beside `file`, then renames; readers see nothing or everything.
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
        "the bootstrap store in "
            + directory
            + " is out of reach (rank 0 may have ended): "
            + cause,
        cause);
  }
}
