// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.KvHead;
import io.weft.kv.server.MirrorLink.Arrival;
import io.weft.kv.spill.RowStoreException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A server to which goes what is done to a shard, and what is still to be copied to it before it
/// has everything. Confined to the shard's thread.
final class Mirror {

  private final MirrorLink link;
  private @Nullable ShardCopy copy;
  private boolean whole;

  private Mirror(MirrorLink link, @Nullable ShardCopy copy) {
    this.link = link;
    this.copy = copy;
    this.whole = copy == null;
  }

  /// One that has everything.
  static Mirror whole(MirrorLink link) {
    return new Mirror(link, null);
  }

  /// One to which everything is copied, beginning now.
  static Mirror copying(MirrorLink link, ShardCopy copy) {
    return new Mirror(link, copy);
  }

  int peer() {
    return link.peer();
  }

  /// Whether it still gets what is done.
  boolean isLive() {
    return !link.isEnded();
  }

  /// Whether it has answered that it has everything.
  boolean isWhole() {
    return whole;
  }

  /// Whether all that was sent to it is answered.
  boolean isIdle() {
    return link.isIdle();
  }

  /// Sends what was done; `arrival` hears when it is there, or at once where it gets nothing more.
  void forward(KvHead head, int worker, long bytes, Consumer<MemorySegment> fill, Arrival arrival) {
    ShardCopy under = copy;
    if (under != null && isLive()) {
      under.flush(); // rows as they were before
    }
    link.forward(head, worker, bytes, fill, arrival);
  }

  /// What is still to be copied goes there now: what comes next reads it there.
  void finishCopy() {
    ShardCopy under = copy;
    if (under == null) {
      return;
    }
    while (isLive() && !under.advance()) {
      // each call takes some rows out
    }
    endCopy(under);
  }

  private void endCopy(ShardCopy under) {
    under.complete(() -> whole = true);
    under.close();
    copy = null;
  }

  /// Whether something is to be copied or sent, or it has not answered that it has everything.
  boolean isBusy() {
    return copy != null || (isLive() && (!whole || link.isBlocked()));
  }

  /// Copies some rows; whether there was room to.
  boolean slice() {
    if (isLive()) {
      link.flush();
    }
    ShardCopy under = copy;
    if (under == null) {
      return false;
    }
    if (!isLive()) {
      under.close();
      copy = null;
      return true;
    }
    if (!link.hasRoom()) {
      return false;
    }
    try {
      if (under.advance()) {
        endCopy(under);
      }
    } catch (RowStoreException unread) {
      end(String.valueOf(unread.getMessage()));
    }
    return true;
  }

  /// It gets nothing more.
  void end(String why) {
    link.end(why);
    ShardCopy under = copy;
    if (under != null) {
      under.close();
      copy = null;
    }
  }
}
