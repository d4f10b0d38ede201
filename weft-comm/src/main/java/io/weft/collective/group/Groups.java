// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import io.weft.comm.CommException;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The communicators that are open on this rank. Of those that were closed nothing is kept but how
/// many each process set had, which tells a message for one of them from a message for one that is
/// not made here yet. Confined to the progress thread.
public final class Groups {

  /// Aborted elsewhere, and not made here yet.
  private static final int MAX_EARLY = 4096;

  private final LongMap<Group> open = new LongMap<>();
  private final LongMap<Integer> made = new LongMap<>();
  private final LongMap<CommException> abortedEarly = new LongMap<>();

  /// Opens a communicator; those of one set come in the order of their instances. Returns why it is
  /// of no use already, if a member has aborted it.
  public @Nullable CommException open(Group group) {
    open.put(group.key(), group);
    made.put(Group.family(group.key()), Group.instance(group.key()));
    return abortedEarly.remove(group.key());
  }

  /// Forgets a communicator.
  public void close(Group group) {
    var unused = open.remove(group.key());
  }

  /// Forgets all communicators, of an epoch that has ended.
  public void closeAll() {
    open.clear();
  }

  /// Null if it is closed, or not made here yet.
  public @Nullable Group get(long key) {
    return open.get(key);
  }

  /// Whether it was made here and has been closed.
  public boolean isClosed(long key) {
    int latest = Objects.requireNonNullElse(made.get(Group.family(key)), 0);
    return Group.instance(key) <= latest && open.get(key) == null;
  }

  /// Keeps the abort of a communicator until it is made here; whether there was room.
  public boolean keepAbort(long key, CommException cause) {
    if (abortedEarly.size() == MAX_EARLY) {
      return false;
    }
    abortedEarly.put(key, cause);
    return true;
  }

  public void forEach(Consumer<? super Group> action) {
    open.forEach(action);
  }
}
