// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.tensor.TensorLease;

/// Memory of the transport for what cannot be sent from, or written to, where it lies. Any thread.
@FunctionalInterface
public interface StagingMemory {

  /// So many bytes; whoever holds it closes it.
  TensorLease lease(long bytes);
}
