// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Stage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Two stages, of which the second one is made when the first one is over, or is none.
///
/// @param second gives null if nothing is left to do; may throw what `OperationPlan.stage` may
/// @param value the result, when both are over
/// @param freeing what `discard` does
public record TwoStages<T>(
    Stage first, Supplier<@Nullable Stage> second, Supplier<T> value, Runnable freeing)
    implements OperationPlan<T> {

  @Override
  public @Nullable Stage stage(int index) {
    return switch (index) {
      case 0 -> first;
      case 1 -> second.get();
      default -> null;
    };
  }

  @Override
  public T result() {
    return value.get();
  }

  @Override
  public void discard() {
    freeing.run();
  }
}
