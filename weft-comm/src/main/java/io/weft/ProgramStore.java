// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.cluster.Store;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// The view of the job's store for programs. It prefixes their keys, to separate them from those of
/// Weft itself; the prefix does not count towards the length of a key. It rejects invalid arguments
/// before it sends anything, and it rejects every call on the progress thread, which the call would
/// block. It borrows the job's store, so `close` has no effect. Thread-safe.
///
/// @param store the job's store
/// @param isInside returns whether the calling thread runs the agent, as in a callback
record ProgramStore(Store store, BooleanSupplier isInside) implements Store {

  private static final String PREFIX = "job/";

  @Override
  public void put(String key, byte[] value) {
    String there = there("put", key);
    store.put(there, checked("value", value));
  }

  @Override
  public boolean putIfAbsent(String key, byte[] value) {
    String there = there("putIfAbsent", key);
    return store.putIfAbsent(there, checked("value", value));
  }

  @Override
  public boolean compareAndSet(String key, byte[] expected, byte[] value) {
    String there = there("compareAndSet", key);
    return store.compareAndSet(there, checked("expected", expected), checked("value", value));
  }

  @Override
  public void remove(String key) {
    store.remove(there("remove", key));
  }

  @Override
  public byte[] get(String key, Duration timeout) throws InterruptedException {
    Objects.requireNonNull(timeout, "timeout");
    return store.get(there("get", key), timeout);
  }

  @Override
  public Optional<byte[]> find(String key) {
    return store.find(there("find", key));
  }

  @Override
  public Optional<byte[]> awaitChange(String key, byte[] known, Duration timeout)
      throws InterruptedException {
    Objects.requireNonNull(timeout, "timeout");
    String there = there("awaitChange", key);
    return store.awaitChange(there, checked("known", known), timeout);
  }

  /// Checks a call and its key, and returns the prefixed key.
  private String there(String call, String key) {
    Objects.requireNonNull(key, "key");
    int bytes = key.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_KEY_BYTES) {
      throw new IllegalArgumentException(
          "store." + call + " with a key of " + bytes + " bytes; it takes 1 to " + MAX_KEY_BYTES);
    }
    if (isInside.getAsBoolean()) {
      throw new IllegalStateException(
          "store."
              + call
              + " of '"
              + key
              + "' in a callback, on the thread that runs the agent: the whole rank would wait"
              + " for the store; call it on another thread");
    }
    return PREFIX + key;
  }

  private static byte[] checked(String name, byte[] value) {
    Objects.requireNonNull(value, name);
    if (value.length > MAX_VALUE_BYTES) {
      throw new IllegalArgumentException(
          "a store takes values of at most " + MAX_VALUE_BYTES + " bytes, got " + value.length);
    }
    return value;
  }

  @Override
  public void disconnect() {
    store.disconnect();
  }

  @Override
  public String meeting() {
    return store.meeting();
  }

  @Override
  public String caution() {
    return store.caution();
  }

  @Override
  public void close() {}
}
