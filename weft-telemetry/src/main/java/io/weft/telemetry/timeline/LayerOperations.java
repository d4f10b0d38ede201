// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

/// The names in timelines of the operations of the negotiation. Stateless.
public final class LayerOperations {

  /// The name of the vector's reduction, which finds the ready tensors.
  public static final String ROUND = "weft/round";

  /// The name of the exchange of reports on tensors that are not in the response cache.
  public static final String REPORTS = "weft/reports";

  private LayerOperations() {}

  /// Returns true if an operation of this name belongs to the negotiation.
  public static boolean isNegotiation(String name) {
    return name.equals(ROUND) || name.equals(REPORTS);
  }
}
