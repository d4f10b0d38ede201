// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.Store;
import java.time.Duration;
import java.util.Optional;

/// The keys of another store that begin with a prefix, without it. Borrows that store: `close` has
/// no effect on it. Thread-safe.
///
/// @param store in which the keys are
/// @param prefix counts for the length of a key
public record PrefixStore(Store store, String prefix) implements Store {

  @Override
  public void put(String key, byte[] value) {
    store.put(prefix + key, value);
  }

  @Override
  public boolean putIfAbsent(String key, byte[] value) {
    return store.putIfAbsent(prefix + key, value);
  }

  @Override
  public boolean compareAndSet(String key, byte[] expected, byte[] value) {
    return store.compareAndSet(prefix + key, expected, value);
  }

  @Override
  public void remove(String key) {
    store.remove(prefix + key);
  }

  @Override
  public byte[] get(String key, Duration timeout) throws InterruptedException {
    return store.get(prefix + key, timeout);
  }

  @Override
  public Optional<byte[]> find(String key) {
    return store.find(prefix + key);
  }

  @Override
  public Optional<byte[]> awaitChange(String key, byte[] known, Duration timeout)
      throws InterruptedException {
    return store.awaitChange(prefix + key, known, timeout);
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
