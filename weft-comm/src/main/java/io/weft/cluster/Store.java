// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.time.Duration;
import java.util.Optional;

/// Bootstrap key-value store: ranks find each other's addresses here, and nothing else.
/// Thread-safe.
public interface Store extends AutoCloseable {

  /// Longest key, in UTF-8 bytes.
  int MAX_KEY_BYTES = 1 << 10;

  /// Longest value.
  int MAX_VALUE_BYTES = 1 << 16;

  /// Puts a value; a later put of the same key replaces it. Throws `CommException.Setup` if the
  /// store is out of reach or full, `IllegalArgumentException` if key or value is too long.
  void put(String key, byte[] value);

  /// Waits until the key is there. Throws `CommException.Setup` naming key and store after
  /// `timeout`.
  byte[] get(String key, Duration timeout) throws InterruptedException;

  /// The value if it is there now. Throws `CommException.Setup` if the store is out of reach.
  Optional<byte[]> find(String key);

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

  @Override
  void close();
}
