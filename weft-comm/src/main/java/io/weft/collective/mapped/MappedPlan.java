// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mapped;

import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Stage;
import io.weft.collective.mailbox.MailboxTask;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The plan of a reduction on mapped memory, controlled by a mailbox or, if that fails, by
/// messages. A last stage on the wire completes the rest.
///
/// @param first the stage by mailbox, which is also its task
/// @param byMessages supplies the stage that follows if the first one fails
/// @param rest supplies the last stage, or null if nothing is left
/// @param value supplies the result after the last stage
/// @param freeing runs on `discard`
public record MappedPlan<T>(
    MailboxTask first,
    Supplier<Stage> byMessages,
    Supplier<@Nullable Stage> rest,
    Supplier<T> value,
    Runnable freeing)
    implements OperationPlan<T> {

  @Override
  public @Nullable Stage stage(int index) {
    if (index == 0) {
      return first;
    }
    int after = first.isUndone() ? 2 : 1;
    if (index < after) {
      return byMessages.get();
    }
    return index == after ? rest.get() : null;
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
