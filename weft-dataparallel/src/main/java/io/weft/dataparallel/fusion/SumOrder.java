// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.fusion;

import io.weft.collective.CollectiveOptions;

/// The order in which reductions of this layer add the ranks. Each element has one fixed order with
/// every algorithm, so that the bits of a gradient do not depend on its buffer.
public final class SumOrder {

  private SumOrder() {}

  /// Returns the options of a reduction of a buffer or a single tensor under this name.
  public static CollectiveOptions options(String name) {
    return CollectiveOptions.named(name).inFixedOrder();
  }
}
