// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.group.LongMap;
import io.weft.collective.group.NameUse;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The operations of this rank that have begun and are not over, in the order of submission.
/// Confined to the progress thread.
final class ActiveOperations {

  private final LongMap<Operation<?>> byUse = new LongMap<>();
  private final List<Operation<?>> order = new ArrayList<>();
  private boolean moved;

  void add(Operation<?> operation) {
    byUse.put(NameUse.id(operation.key(), operation.sequence()), operation);
    order.add(operation);
  }

  void remove(Operation<?> operation) {
    var unused = byUse.remove(NameUse.id(operation.key(), operation.sequence()));
    order.remove(operation);
    moved = true;
  }

  /// The one for this use of a name, if there is one.
  @Nullable Operation<?> find(long key, int sequence) {
    return byUse.get(NameUse.id(key, sequence));
  }

  /// Changes with what is added and removed.
  List<Operation<?>> inOrder() {
    return order;
  }

  int size() {
    return order.size();
  }

  /// Moves all on as far as possible; those that become complete are given to `acknowledge`, which
  /// removes them. Returns the amount of work done.
  int advance(Consumer<? super Operation<?>> acknowledge) {
    int work = 0;
    do {
      moved = false;
      for (int i = 0; i < order.size(); i++) {
        Operation<?> operation = order.get(i);
        if (operation.advance()) {
          acknowledge.accept(operation);
          work++;
        }
        work += operation.takeWork();
      }
    } while (moved);
    return work;
  }
}
