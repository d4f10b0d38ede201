// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Stage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A plan of one or two stages. The second stage is created when the first one has ended.
///
/// @param second supplies null if nothing is left; may throw as `OperationPlan.stage`
/// @param value supplies the result after the last stage
/// @param freeing runs on `discard`
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
