// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.time.Duration;
import java.util.Optional;

/// Key-value store of a job: ranks find each other's addresses here, and later what few of them
/// need to know of the others. It serves as long as its keeper lives (the launcher, or rank 0 until
/// it leaves); a client may come, go and come again at any time. Bounded: 65,536 entries and 64
/// MiB.
///
/// Each call is one change or one look, in one order for all clients. Blocking; for user threads,
/// never for the progress thread, where `Weft.store` refuses them. What goes wrong is a
/// `CommException.Setup` that says which store it was: it is out of reach or full; nothing else of
/// the job is harmed. `IllegalArgumentException` where key or value is too long. Values are copied
/// in and out. Thread-safe.
public interface Store extends AutoCloseable {

  /// Longest key of a program, in UTF-8 bytes.
  int MAX_KEY_BYTES = 1 << 10;

  /// Longest key that a store takes: Weft puts a short prefix before those of programs.
  int MAX_STORED_KEY_BYTES = MAX_KEY_BYTES + 16;

  /// Longest value.
  int MAX_VALUE_BYTES = 1 << 16;

  /// Puts a value; a later put of the same key replaces it.
  void put(String key, byte[] value);

  /// Puts a value where there is none; returns whether it did. One of several that try at once
  /// does. Throws also where the connection broke before the answer: read the key to learn whether
  /// it took effect.
  boolean putIfAbsent(String key, byte[] value);

  /// Puts `value` where `expected` is; returns whether it did. Throws as `putIfAbsent`.
  boolean compareAndSet(String key, byte[] expected, byte[] value);

  /// Removes the key, if it is there.
  void remove(String key);

  /// Waits until the key is there. Throws `CommException.Setup` naming key and store after
  /// `timeout`.
  byte[] get(String key, Duration timeout) throws InterruptedException;

  /// The value if it is there now. Throws `CommException.Setup` if the store is out of reach.
  Optional<byte[]> find(String key);

  /// Waits until the key has a value other than `known`, and returns the one that it has then;
  /// values in between may be missed. Empty after `timeout`.
  Optional<byte[]> awaitChange(String key, byte[] known, Duration timeout)
      throws InterruptedException;

  /// Ends the connection, if there is one; the next call makes it again. For those who will not ask
  /// for long.
  default void disconnect() {}

  /// What no other meeting of ranks has, the same on all ranks that meet here: what they prove to
  /// each other with the job's name. Empty where the store is inside one process.
  default String meeting() {
    return "";
  }

  /// What may keep ranks from coming here, for the message when some do not; empty if nothing is
  /// known.
  default String caution() {
    return "";
  }

  /// Ends this client's way to the store, not the store.
  @Override
  void close();
}
