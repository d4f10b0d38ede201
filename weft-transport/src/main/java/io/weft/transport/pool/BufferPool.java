// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import io.weft.transport.Transport;
import java.util.Optional;

/// Registered memory by size class, bounded: empty means back-pressure for the layer above. Never
/// blocks; any thread.
public interface BufferPool extends AutoCloseable {

  /// A pool of memory registered with `transport`, at most `maxBytes` of it, taken as it is needed.
  /// With `-Dweft.pool.trace=true` every lease remembers who took it, for the message of `close`.
  /// Close the pool before or after the transport, but after the last lease.
  static BufferPool of(Transport transport, long maxBytes) {
    return new BuddyPool(transport, maxBytes, Boolean.getBoolean("weft.pool.trace"));
  }

  /// A slice of at least `bytes`, aligned to 64 bytes, or empty when the pool's bound is reached.
  /// Throws `IllegalArgumentException` for more than the bound, which no waiting would help.
  Optional<SliceLease> tryLease(long bytes);

  /// Frees all memory. Throws `IllegalStateException` naming the leases that are still out.
  @Override
  void close();
}
