// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.comm.CommException;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvHead;
import io.weft.kv.server.MirrorLink.Arrival;
import io.weft.kv.spill.RowStoreException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A server to which a shard's operations are forwarded, together with the copy of the shard until
/// it is complete. Confined to the shard's thread.
final class Mirror {

  private final MirrorLink link;
  private @Nullable ShardCopy copy;
  private boolean whole;

  /// The copying of the shard for the observers, until it has ended.
  private @Nullable TableOperation copying;

  private Mirror(MirrorLink link, @Nullable ShardCopy copy, @Nullable TableOperation copying) {
    this.link = link;
    this.copy = copy;
    this.copying = copying;
    this.whole = copy == null;
    link.whenEnded(
        why -> copyEnded(new CommException.Aborted("the copy was not completed: " + why, null)));
  }

  /// Returns a mirror that already has the whole shard.
  static Mirror whole(MirrorLink link) {
    return new Mirror(link, null, null);
  }

  /// Returns a mirror to which the shard is being copied.
  ///
  /// @param operation for the observers; ends with the copy
  static Mirror copying(MirrorLink link, ShardCopy copy, TableOperation operation) {
    return new Mirror(link, copy, operation);
  }

  int peer() {
    return link.peer();
  }

  /// Returns whether operations are still forwarded to it.
  boolean isLive() {
    return !link.isEnded();
  }

  /// Returns whether it has confirmed that it has the whole shard.
  boolean isWhole() {
    return whole;
  }

  /// Returns whether all forwarded requests are answered.
  boolean isIdle() {
    return link.isIdle();
  }

  /// Forwards an operation. `arrival` is notified when the mirror has executed it, or at once if
  /// nothing is forwarded any more.
  void forward(KvHead head, int worker, long bytes, Consumer<MemorySegment> fill, Arrival arrival) {
    ShardCopy under = copy;
    if (under != null && isLive()) {
      under.flush(); // rows as they were before the operation
    }
    link.forward(head, worker, bytes, fill, arrival);
  }

  /// Sends the rest of the copy now, because the next operation reads it on the mirror.
  void finishCopy() {
    ShardCopy under = copy;
    if (under == null) {
      return;
    }
    while (isLive() && !under.advance()) {
      // each call emits some rows
    }
    endCopy(under);
  }

  private void endCopy(ShardCopy under) {
    under.complete(
        () -> {
          whole = true;
          copyEnded(null);
        });
    under.close();
    copy = null;
  }

  private void copyEnded(@Nullable CommException failure) {
    TableOperation operation = copying;
    copying = null;
    if (operation != null) {
      operation.answers(link.forwardedBytes());
      operation.ended(failure);
    }
  }

  /// Returns whether there is something to copy or send, or the mirror has not confirmed that it
  /// has the whole shard.
  boolean isBusy() {
    return copy != null || (isLive() && (!whole || link.isBlocked()));
  }

  /// Copies some rows. Returns whether there was room for them.
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

  /// Stops forwarding.
  void end(String why) {
    link.end(why);
    ShardCopy under = copy;
    if (under != null) {
      under.close();
      copy = null;
    }
  }
}
