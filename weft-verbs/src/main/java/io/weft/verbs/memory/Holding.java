// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One region's claim on registered memory, which remains registered until the claim is released.
interface Holding {

  /// Returns the registration that contains the region.
  Registration registration();

  /// Returns the region's memory.
  MemorySegment memory();

  /// Returns the offset of the region in the registered memory.
  default long offset() {
    return memory().address() - registration().memory().address();
  }

  /// Returns the block of the transport's memory that contains the region, which may be offered to
  /// peers' devices; null for foreign memory.
  @Nullable PoolBlock block();

  /// Releases the claim. Must be called once.
  void release();
}
