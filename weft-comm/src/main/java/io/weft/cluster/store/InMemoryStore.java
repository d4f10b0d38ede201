// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.CommException;
import io.weft.cluster.Store;
import io.weft.transport.limit.Span;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// A store inside one process, for jobs of one rank, for tests, and behind the server. Bounded:
/// 65,536 entries, 64 MiB. Thread-safe.
public final class InMemoryStore implements Store {

  private static final int MAX_ENTRIES = 1 << 16;
  private static final long MAX_BYTES = 64L << 20;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<String, byte[]> values = new HashMap<>();
  private long bytes;

  /// An empty store.
  public InMemoryStore() {}

  @Override
  public void put(String key, byte[] value) {
    requireShort(key, value.length);
    lock.lock();
    try {
      byte[] before = values.get(key);
      long after = bytes + value.length - (before == null ? -key.length() : before.length);
      if (after > MAX_BYTES || (before == null && values.size() == MAX_ENTRIES)) {
        throw new CommException.Setup(
            "the bootstrap store is full ("
                + values.size()
                + " entries, "
                + bytes
                + " bytes); it is for addresses, not for data",
            null);
      }
      values.put(key, value.clone());
      bytes = after;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public byte[] get(String key, Duration timeout) throws InterruptedException {
    long left = Span.nanos(timeout);
    lock.lock();
    try {
      byte[] value = values.get(key);
      while (value == null) {
        if (left <= 0) {
          throw absent(key, "the in-process store", timeout);
        }
        left = changed.awaitNanos(left);
        value = values.get(key);
      }
      return value.clone();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Optional<byte[]> find(String key) {
    lock.lock();
    try {
      return Optional.ofNullable(values.get(key)).map(byte[]::clone);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {}

  static void requireShort(String key, int valueBytes) {
    int keyBytes = key.getBytes(StandardCharsets.UTF_8).length;
    if (keyBytes == 0 || keyBytes > MAX_KEY_BYTES || valueBytes > MAX_VALUE_BYTES) {
      throw new IllegalArgumentException(
          "a store takes keys of 1 to "
              + MAX_KEY_BYTES
              + " bytes and values of at most "
              + MAX_VALUE_BYTES
              + ", got "
              + keyBytes
              + " and "
              + valueBytes);
    }
  }

  static CommException.Setup absent(String key, String store, Duration timeout) {
    return new CommException.Setup(
        "nobody put '"
            + key
            + "' into "
            + store
            + " within "
            + Span.millis(timeout) / 1000.0
            + " s",
        null);
  }
}
