// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

/// The location of a tensor's memory.
public enum MemoryKind {
  /// Host memory, which any thread of the host reads and writes.
  HOST,
  /// Accelerator memory: `data` is a device address, which the host must not dereference. No
  /// service of Weft accepts device memory yet; each rejects it with an error that names it.
  DEVICE
}
