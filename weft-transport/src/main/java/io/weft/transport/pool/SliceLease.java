// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import io.weft.transport.Slice;

/// An **owned** slice; `close` returns it to its pool. The owner must close it exactly once; a
/// second call throws `IllegalStateException`.
public interface SliceLease extends AutoCloseable {

  /// Returns the memory, at least as long as requested. Its contents are undefined.
  Slice slice();

  @Override
  void close();
}
