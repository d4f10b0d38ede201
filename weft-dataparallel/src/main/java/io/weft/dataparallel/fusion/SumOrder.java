// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.fusion;

import io.weft.collective.CollectiveOptions;

/// The order in which reductions of this layer add the ranks, whichever way they go: one for each
/// element, so that the bits of a gradient do not depend on the buffer that it shares.
public final class SumOrder {

  private SumOrder() {}

  /// Returns how a buffer, or a tensor by itself, is reduced under this name.
  public static CollectiveOptions options(String name) {
    return CollectiveOptions.named(name).inFixedOrder();
  }
}
