// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

/// What happens when ranks' weights differ.
public enum DivergencePolicy {
  /// It is told, and training goes on.
  WARN,
  /// Training ends, on all ranks.
  STOP,
  /// The ranks that differ get the tensors that differ from one that most ranks agree with.
  HEAL
}
