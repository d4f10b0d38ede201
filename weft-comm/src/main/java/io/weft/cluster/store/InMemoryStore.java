// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.Store;
import io.weft.comm.CommException;
import io.weft.transport.limit.ClampedDuration;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A store inside one process, for jobs of one rank, for tests, and for the server. Bounded by
/// 65,536 entries and 64 MiB. Thread-safe.
public final class InMemoryStore implements Store {

  static final int MAX_ENTRIES = 1 << 16;
  static final long MAX_BYTES = 64L << 20;

  /// The bounds, for the message of a full store.
  static final String BOUNDS =
      "at most "
          + MAX_ENTRIES
          + " entries and "
          + (MAX_BYTES >> 20)
          + " MiB); it is for addresses and settings, not for data: remove unused keys";

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<String, byte[]> values = new HashMap<>();
  private long bytes;

  /// Creates an empty store.
  public InMemoryStore() {}

  @Override
  public void put(String key, byte[] value) {
    int keyBytes = requireShort(key, value.length);
    lock.lock();
    try {
      replace(key, keyBytes, value);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean putIfAbsent(String key, byte[] value) {
    int keyBytes = requireShort(key, value.length);
    lock.lock();
    try {
      boolean absent = !values.containsKey(key);
      if (absent) {
        replace(key, keyBytes, value);
      }
      return absent;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean compareAndSet(String key, byte[] expected, byte[] value) {
    int keyBytes = requireShort(key, Math.max(expected.length, value.length));
    lock.lock();
    try {
      boolean same = Arrays.equals(values.get(key), expected);
      if (same) {
        replace(key, keyBytes, value);
      }
      return same;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void remove(String key) {
    int keyBytes = requireShort(key, 0);
    lock.lock();
    try {
      byte[] before = values.remove(key);
      bytes -= before == null ? 0 : keyBytes + before.length;
    } finally {
      lock.unlock();
    }
  }

  /// Replaces a value. The caller holds the lock.
  private void replace(String key, int keyBytes, byte[] value) {
    byte[] before = values.get(key);
    long after = bytes + value.length - (before == null ? -keyBytes : before.length);
    if (after > MAX_BYTES || (before == null && values.size() == MAX_ENTRIES)) {
      throw full(values.size(), bytes);
    }
    values.put(key, value.clone());
    bytes = after;
    changed.signalAll();
  }

  @Override
  public byte[] get(String key, Duration timeout) throws InterruptedException {
    requireShort(key, 0);
    return await(key, null, timeout)
        .orElseThrow(() -> absent(key, "the in-process store", timeout));
  }

  @Override
  public Optional<byte[]> awaitChange(String key, byte[] known, Duration timeout)
      throws InterruptedException {
    requireShort(key, known.length);
    return await(key, known, timeout);
  }

  private Optional<byte[]> await(String key, byte @Nullable [] known, Duration timeout)
      throws InterruptedException {
    long left = ClampedDuration.nanos(timeout);
    lock.lock();
    try {
      byte[] value = values.get(key);
      while (value == null || Arrays.equals(value, known)) {
        if (left <= 0) {
          return Optional.empty();
        }
        left = changed.awaitNanos(left);
        value = values.get(key);
      }
      return Optional.of(value.clone());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Optional<byte[]> find(String key) {
    requireShort(key, 0);
    lock.lock();
    try {
      return Optional.ofNullable(values.get(key)).map(byte[]::clone);
    } finally {
      lock.unlock();
    }
  }

  /// Returns the bytes of all keys, in UTF-8, and values.
  long bytes() {
    lock.lock();
    try {
      return bytes;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {}

  /// Returns the length of the key in UTF-8. Throws `IllegalArgumentException` if the key is empty,
  /// or key or value is too long.
  static int requireShort(String key, int valueBytes) {
    int keyBytes = Objects.requireNonNull(key, "key").getBytes(StandardCharsets.UTF_8).length;
    if (keyBytes == 0 || keyBytes > MAX_STORED_KEY_BYTES || valueBytes > MAX_VALUE_BYTES) {
      throw new IllegalArgumentException(
          "a store takes keys of 1 to "
              + MAX_STORED_KEY_BYTES
              + " bytes and values of at most "
              + MAX_VALUE_BYTES
              + ", got "
              + keyBytes
              + " and "
              + valueBytes);
    }
    return keyBytes;
  }

  static CommException.Setup full(int entries, long bytes) {
    return new CommException.Setup(
        "the store is full, it has " + entries + " entries and " + bytes + " bytes (" + BOUNDS,
        null);
  }

  static CommException.Setup absent(String key, String store, Duration timeout) {
    return new CommException.Setup(
        "no client put '"
            + key
            + "' into "
            + store
            + " within "
            + ClampedDuration.millis(timeout) / 1000.0
            + " s",
        null);
  }
}
