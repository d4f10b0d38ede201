// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import io.weft.comm.CommException;
import io.weft.transport.table.LongMap;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The communicators that are open on this rank. Of closed ones only the count per process set is
/// kept, which distinguishes their messages from messages for communicators not yet created here.
/// Confined to the progress thread.
public final class Groups {

  /// The limit of aborts kept for communicators not yet created here.
  private static final int MAX_EARLY = 4096;

  private final LongMap<Group> open = new LongMap<>();
  private final LongMap<Integer> made = new LongMap<>();
  private final LongMap<CommException> abortedEarly = new LongMap<>();

  /// Opens a communicator. The communicators of one set must be opened in the order of their
  /// instances. Returns the cause if a member has already aborted it, else null.
  public @Nullable CommException open(Group group) {
    open.put(group.key(), group);
    made.put(Group.family(group.key()), Group.instance(group.key()));
    return abortedEarly.remove(group.key());
  }

  public void close(Group group) {
    var unused = open.remove(group.key());
  }

  /// Removes all communicators, because their epoch has ended.
  public void closeAll() {
    open.clear();
  }

  /// Returns null if the communicator is closed or not yet created here.
  public @Nullable Group get(long key) {
    return open.get(key);
  }

  /// Returns whether the communicator was created here and has been closed.
  public boolean isClosed(long key) {
    int latest = Objects.requireNonNullElse(made.get(Group.family(key)), 0);
    return Group.instance(key) <= latest && open.get(key) == null;
  }

  /// Keeps the abort of a communicator until it is created here. Returns whether there was room.
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
