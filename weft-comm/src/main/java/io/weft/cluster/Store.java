// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.time.Duration;
import java.util.Optional;

/// The key-value store of a job. Ranks exchange their addresses in it, and later the facts that few
/// ranks need about others. It serves while its server lives: the launcher, or rank 0 until it
/// leaves. A client may disconnect and connect again at any time. Bounded by 65,536 entries and 64
/// MiB.
///
/// Each call is one change or one read, and all clients observe one order of calls. Calls block.
/// They are for user threads and never for the progress thread, on which `Weft.store` rejects them.
/// A failure is a `CommException.Setup` that names the store, which is out of reach or full; the
/// rest of the job is not affected. Too long a key or value causes an `IllegalArgumentException`.
/// Values are copied in and out. Thread-safe.
public interface Store extends AutoCloseable {

  /// Maximum length of a program's key, in UTF-8 bytes.
  int MAX_KEY_BYTES = 1 << 10;

  /// Maximum length of a stored key. Weft adds a short prefix to the keys of programs.
  int MAX_STORED_KEY_BYTES = MAX_KEY_BYTES + 16;

  /// Maximum length of a value, in bytes.
  int MAX_VALUE_BYTES = 1 << 16;

  /// Stores a value. A later put of the same key replaces it.
  void put(String key, byte[] value);

  /// Stores a value if the key is absent. Returns whether it did; exactly one of several concurrent
  /// calls does. Also throws if the connection broke before the answer; the caller can read the key
  /// to learn whether the call took effect.
  boolean putIfAbsent(String key, byte[] value);

  /// Replaces `expected` by `value`. Returns whether it did. Throws as `putIfAbsent` does.
  boolean compareAndSet(String key, byte[] expected, byte[] value);

  /// Removes the key if it exists.
  void remove(String key);

  /// Waits until the key exists. Throws `CommException.Setup` naming key and store after `timeout`.
  byte[] get(String key, Duration timeout) throws InterruptedException;

  /// Returns the current value, if any. Throws `CommException.Setup` if the store is out of reach.
  Optional<byte[]> find(String key);

  /// Waits until the key has a value other than `known`, and returns that value. Intermediate
  /// values may be missed. Empty after `timeout`.
  Optional<byte[]> awaitChange(String key, byte[] known, Duration timeout)
      throws InterruptedException;

  /// Ends the connection, if there is one. The next call connects again. For clients that will be
  /// idle for long.
  default void disconnect() {}

  /// The unique identifier of this meeting of ranks, equal on all ranks that meet in this store.
  /// Ranks prove it to each other together with the job's name. Empty if the store is inside one
  /// process.
  default String meeting() {
    return "";
  }

  /// The obstacle that may keep ranks from this store, for the message about ranks that do not
  /// arrive; empty if none is known.
  default String caution() {
    return "";
  }

  /// Closes this client, not the store.
  @Override
  void close();
}
