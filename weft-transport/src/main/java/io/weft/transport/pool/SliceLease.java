// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.pool;

import io.weft.transport.Slice;

/// An **owned** slice; `close` gives it back to its pool. The owner closes exactly once; a second
/// call throws `IllegalStateException`.
public interface SliceLease extends AutoCloseable {

  /// The memory, at least as long as was asked for. Contents are whatever the last owner left.
  Slice slice();

  @Override
  void close();
}
