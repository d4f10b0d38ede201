// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import org.jspecify.annotations.Nullable;

/// The uses of names on this rank's communicators, by key of operation. Confined to the lane's
/// thread.
final class Names {

  private final LongMap<NameUse> uses = new LongMap<>();

  /// Null for a name that was not used yet.
  @Nullable NameUse get(long key) {
    return uses.get(key);
  }

  /// How often a name was used.
  int count(long key) {
    NameUse use = uses.get(key);
    return use == null ? 0 : use.count();
  }

  /// Counts a use of a name; returns its number.
  ///
  /// Hot path, once the name was used.
  int use(long key, Group group, String name, Signature signature) {
    NameUse use = uses.get(key);
    if (use == null) {
      use = new NameUse(group, name, signature);
      uses.put(key, use);
    }
    return use.next(signature);
  }

  /// Counts the use by this operation; returns its number.
  int use(Operation<?> operation) {
    return use(operation.key(), operation.group(), operation.name(), operation.signature());
  }

  /// See `NameUse.settle`.
  void settle(long key) {
    NameUse use = uses.get(key);
    if (use != null) {
      use.settle();
    }
  }

  /// The communicator is closed.
  void forget(Group group) {
    uses.removeIf(use -> use.group() == group);
  }

  /// The epoch is over.
  void clear() {
    uses.clear();
  }
}
