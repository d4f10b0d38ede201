// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;

/// One region's claim on registered memory, which stays registered until it is released.
interface Holding {

  /// What the region lies in.
  Registration registration();

  /// The region's memory.
  MemorySegment memory();

  /// Where the region begins in what is registered.
  default long offset() {
    return memory().address() - registration().memory().address();
  }

  /// Whether nobody else gets this memory before it is released: it may be offered to peers'
  /// devices.
  boolean isOwn();

  /// The region does not need it any more. Once.
  void release();
}
