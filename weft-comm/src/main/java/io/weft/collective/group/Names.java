// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import org.jspecify.annotations.Nullable;

/// The uses of names on this rank's communicators, by key of operation. Confined to the lane's
/// thread.
public final class Names {

  private final LongMap<NameUse> uses = new LongMap<>();

  /// Null for a name that was not used yet.
  public @Nullable NameUse get(long key) {
    return uses.get(key);
  }

  /// How often a name was used.
  public int count(long key) {
    NameUse use = uses.get(key);
    return use == null ? 0 : use.count();
  }

  /// Counts a use of a name; returns its number.
  ///
  /// Hot path, once the name was used.
  public int use(long key, Group group, String name, Signature signature) {
    NameUse use = uses.get(key);
    if (use == null) {
      use = new NameUse(group, name, signature);
      uses.put(key, use);
    }
    return use.next(signature);
  }

  /// See `NameUse.settle`.
  public void settle(long key) {
    NameUse use = uses.get(key);
    if (use != null) {
      use.settle();
    }
  }

  /// The communicator is closed.
  public void forget(Group group) {
    uses.removeIf(use -> use.group() == group);
  }

  /// The epoch is over.
  public void clear() {
    uses.clear();
  }
}
