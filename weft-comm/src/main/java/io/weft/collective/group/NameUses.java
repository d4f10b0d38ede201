// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/// The uses of names on this rank's communicators, by key of operation. Confined to the progress
/// thread.
public final class NameUses {

  private final LongMap<NameUse> uses = new LongMap<>();
  private long clock;

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
  public int use(long key, Group group, String name, OperationSignature signature) {
    NameUse use = uses.get(key);
    if (use == null) {
      use = new NameUse(key, group, name, signature);
      uses.put(key, use);
      group.addNames(1);
    }
    use.touch(++clock);
    return use.next(signature);
  }

  /// Counts the uses of all names.
  public long clock() {
    return clock;
  }

  /// Adds the keys of those names of a communicator that were not among the last `recent` uses of
  /// all names. Costs the whole map.
  public void collect(Group group, long recent, Collection<Long> into) {
    uses.forEach(
        use -> {
          if (use.group() == group && use.touched() < clock - recent) {
            into.add(use.key());
          }
        });
  }

  /// A name is used no more, or anew: its next use has the number 0.
  public void forget(NameUse use) {
    if (uses.remove(use.key()) != null) {
      use.group().addNames(-1);
    }
  }

  /// A name that was held stays known.
  public void release(NameUse use) {
    use.touch(clock);
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
