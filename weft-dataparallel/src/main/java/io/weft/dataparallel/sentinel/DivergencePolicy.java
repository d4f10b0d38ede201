// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

/// The reaction to weights that differ between ranks.
public enum DivergencePolicy {
  /// The difference is reported, and training continues.
  WARN,
  /// Training ends on all ranks.
  STOP,
  /// The differing tensors are broadcast from a rank of the majority.
  HEAL
}
