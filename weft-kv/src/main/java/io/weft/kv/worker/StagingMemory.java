// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.tensor.TensorLease;

/// Transport memory for values that cannot be sent from, or received into, their own memory. Any
/// thread.
@FunctionalInterface
public interface StagingMemory {

  /// Returns `bytes` bytes. The caller must close the lease.
  TensorLease lease(long bytes);
}
