// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.collective.frame.Hash;
import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/// The names that were used on one communicator. They are cached so that the next use of a name
/// neither allocates nor hashes. If there are many, some names without an operation in flight are
/// forgotten. Any thread.
final class UserNames {

  /// The number of names beyond which unused names are forgotten.
  static final int MOST = 1 << 14;

  private final long communicator;
  private final ConcurrentMap<String, OperationName> known = new ConcurrentHashMap<>();

  UserNames(long communicator) {
    this.communicator = communicator;
  }

  /// Takes a name for an operation. Returns null if an operation in flight has it.
  ///
  /// Hot path, once the name was used.
  @Nullable OperationName tryTake(String text) {
    while (true) {
      OperationName name = known.get(text);
      if (name == null || name.isForgotten()) {
        name = fresh(text);
      }
      if (name.tryTake()) {
        return name;
      }
      if (!name.isForgotten()) {
        return null;
      }
    }
  }

  private OperationName fresh(String text) {
    if (known.size() >= MOST) {
      forgetSome();
    }
    return known.compute(text, (t, name) -> name == null || name.isForgotten() ? make(t) : name);
  }

  /// Forgets a quarter of the names, so that this is rare; fewer if more are in flight.
  private void forgetSome() {
    int left = MOST / 4;
    for (Iterator<OperationName> names = known.values().iterator(); left > 0 && names.hasNext(); ) {
      OperationName name = names.next();
      if (name.tryForget() && known.remove(name.toString(), name)) {
        left--;
      }
    }
  }

  int size() {
    return known.size();
  }

  private OperationName make(String text) {
    return new OperationName(text, Hash.of(communicator, text));
  }
}
