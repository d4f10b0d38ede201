// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.group.NameUse;
import io.weft.transport.table.LongMap;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The operations of this rank that have begun and not ended, in the order of submission. Confined
/// to the progress thread.
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

  /// Returns the operation of this use of a name, or null.
  @Nullable Operation<?> find(long key, int sequence) {
    return byUse.get(NameUse.id(key, sequence));
  }

  /// Returns a live view of the operations.
  List<Operation<?>> inOrder() {
    return order;
  }

  int size() {
    return order.size();
  }

  /// Advances all operations as far as possible, and passes each one that completes to
  /// `acknowledge`, which removes it. Returns the amount of work done.
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
