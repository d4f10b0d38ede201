// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

/// The shares of the ranks of a global batch.
public enum Shares {
  /// Equal shares.
  EQUAL,
  /// Shares that follow the measured speeds of the ranks.
  BALANCED
}
