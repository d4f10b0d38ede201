// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

/// Where the memory of a tensor lies.
public enum MemoryKind {
  /// Memory of the host, which any of its threads reads and writes.
  HOST,
  /// Memory of an accelerator: `data` is an address there, and must not be dereferenced by the
  /// host. No service of Weft takes it yet; each refuses it by name.
  DEVICE
}
