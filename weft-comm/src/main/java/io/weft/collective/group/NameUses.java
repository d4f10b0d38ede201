// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import io.weft.transport.table.LongMap;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/// The uses of names on this rank's communicators, by operation key. Confined to the progress
/// thread.
public final class NameUses {

  private final LongMap<NameUse> uses = new LongMap<>();
  private long clock;

  /// Returns null for a name that has not been used.
  public @Nullable NameUse get(long key) {
    return uses.get(key);
  }

  public int count(long key) {
    NameUse use = uses.get(key);
    return use == null ? 0 : use.count();
  }

  /// Counts a use of a name; returns its sequence number.
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

  /// Returns the number of uses of all names.
  public long clock() {
    return clock;
  }

  /// Adds the keys of the communicator's names that are not among the last `recent` uses of all
  /// names. Scans the whole map.
  public void collect(Group group, long recent, Collection<Long> into) {
    uses.forEach(
        use -> {
          if (use.group() == group && use.touched() < clock - recent) {
            into.add(use.key());
          }
        });
  }

  /// Forgets a name. Its next use has the sequence number 0.
  public void forget(NameUse use) {
    if (uses.remove(use.key()) != null) {
      use.group().addNames(-1);
    }
  }

  /// Releases a held name, which stays known.
  public void release(NameUse use) {
    use.touch(clock);
  }

  /// Records a failure by `NameUse.settle`.
  public void settle(long key) {
    NameUse use = uses.get(key);
    if (use != null) {
      use.settle();
    }
  }

  /// Forgets the names of a communicator that is closed.
  public void forget(Group group) {
    uses.removeIf(use -> use.group() == group);
  }

  /// Forgets all names, because the epoch has ended.
  public void clear() {
    uses.clear();
  }
}
