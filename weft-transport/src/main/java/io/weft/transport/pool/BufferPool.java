// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import io.weft.transport.Transport;
import java.util.Optional;

/// A bounded pool of registered memory in size classes. An empty result is back-pressure for the
/// layer above. Calls never block; thread-safe.
public interface BufferPool extends AutoCloseable {

  /// Creates a pool of at most `maxBytes` of memory, registered with `transport` on demand. With
  /// `-Dweft.pool.trace=true` every lease records its stack trace for the message of `close`. The
  /// pool may be closed before or after the transport, but only after the last lease.
  static BufferPool of(Transport transport, long maxBytes) {
    return new BuddyPool(transport, maxBytes, Boolean.getBoolean("weft.pool.trace"));
  }

  /// Returns a slice of at least `bytes`, aligned to 64 bytes, or empty when the pool's bound is
  /// reached. Throws `IllegalArgumentException` if the size class of `bytes` exceeds the bound,
  /// because waiting would not help.
  Optional<SliceLease> tryLease(long bytes);

  /// Frees all memory. Throws `IllegalStateException` naming the leases that are not returned.
  @Override
  void close();
}
