// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.verbs.device.Registration;
import java.lang.foreign.MemorySegment;

/// Registers memory with the device.
@FunctionalInterface
interface Registrar {

  /// Throws `VerbsException`.
  Registration register(MemorySegment memory);
}
