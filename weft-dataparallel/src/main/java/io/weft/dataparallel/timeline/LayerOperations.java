// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

/// The operations by which ranks negotiate, as timelines name them. Stateless.
public final class LayerOperations {

  /// Which tensors are ready.
  public static final String ROUND = "weft/round";

  /// What ranks tell each other of tensors that are not in the response cache.
  public static final String REPORTS = "weft/reports";

  private LayerOperations() {}

  /// Whether an operation of this name moves no tensor of the program.
  public static boolean isNegotiation(String name) {
    return name.equals(ROUND) || name.equals(REPORTS);
  }
}
