// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.server.MirrorLink.Arrival;
import io.weft.kv.server.ShardTable.Subject;
import io.weft.kv.spec.Replicas;
import io.weft.kv.spill.RowStoreException;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What this server is to a shard: it serves it, mirrors it, or has nothing of it yet; and the
/// other server that has it. Confined to the shard's thread.
final class ShardMirror {

  private static final Logger LOG = LoggerFactory.getLogger(ShardMirror.class);

  private final int shard;
  private final ShardContext context;
  private final Consumer<Runnable> onThread;
  private final Set<Integer> lost;
  private boolean complete;
  private boolean serves;
  private @Nullable MirrorLink link;
  private @Nullable ShardCopy copy;

  /// @param lost servers that are lost already
  /// @param onThread runs something on the shard's thread, from any
  ShardMirror(int shard, ShardContext context, Set<Integer> lost, Consumer<Runnable> onThread) {
    this.shard = shard;
    this.context = context;
    this.onThread = onThread;
    this.lost = new TreeSet<>(lost);
    Replicas replicas = replicas();
    // Before the first loss, what those two have is all there is: nothing.
    complete =
        replicas.primary(shard, Set.of()) == context.rank()
            || replicas.mirror(shard, Set.of()) == context.rank();
    serves = replicas.primary(shard, lost) == context.rank();
    if (serves) {
      int mirror = replicas.mirror(shard, lost);
      link = mirror == Replicas.NONE ? null : new MirrorLink(shard, mirror, context, onThread);
    }
  }

  private Replicas replicas() {
    return context.mirroring().replicas();
  }

  /// Whether this server answers workers.
  boolean serves() {
    return serves;
  }

  /// Whether all there is of the shard is here.
  boolean isComplete() {
    return complete;
  }

  /// The shard has come over wholly.
  void completed() {
    complete = true;
    LOG.info("rank {} has all of shard {} and mirrors it", context.rank(), shard);
  }

  /// Servers that are lost, for messages.
  Set<Integer> lost() {
    return lost;
  }

  /// Where pushes go to as well; null = nowhere.
  @Nullable MirrorLink link() {
    MirrorLink to = link;
    return to == null || to.isEnded() ? null : to;
  }

  /// A server is lost. Whether this one serves the shard from now on and did not before; then, and
  /// where the mirror was lost, `begin` copies to the next one.
  boolean lose(int rank) {
    lost.add(rank);
    boolean before = serves;
    serves = replicas().primary(shard, lost) == context.rank();
    return serves && !before;
  }

  /// The server that shall mirror it, if it is another one than now; `NONE` if that is so already.
  int nextMirror() {
    int next = serves && complete ? replicas().mirror(shard, lost) : Replicas.NONE;
    MirrorLink now = link;
    return now != null && now.peer() == next ? Replicas.NONE : next;
  }

  /// From now on this server mirrors it; what there is goes there first.
  void begin(int next, ShardCopy.Source source) {
    MirrorLink before = link;
    if (before != null) {
      before.end("it is lost");
    }
    ShardCopy old = copy;
    if (old != null) {
      old.close();
    }
    var to = new MirrorLink(shard, next, context, onThread);
    link = to;
    copy = new ShardCopy(shard, to, source);
    LOG.info("rank {} copies shard {} to rank {}", context.rank(), shard, next);
  }

  /// The mirror is lost and there is no other.
  void end() {
    MirrorLink before = link;
    if (before != null && lost.contains(before.peer())) {
      before.end("it is lost");
    }
  }

  /// Sends a request that was done here to the mirror; `arrival` hears when it is there, or at once
  /// without a mirror.
  void forward(KvHead head, int worker, long bytes, Consumer<MemorySegment> fill, Arrival arrival) {
    MirrorLink to = link();
    if (to == null) {
      arrival.over(null);
      return;
    }
    ShardCopy under = copy;
    if (under != null) {
      under.flush(); // rows as they were before the request
    }
    to.forward(head, worker, bytes, fill, arrival);
  }

  /// Sends a push that was done here to the mirror, with its keys, whatever the worker has named
  /// them by: the mirror keeps no lists.
  void forwardPush(
      Pending it, ShardTable table, Subject subject, MemorySegment values, Arrival arrival) {
    KvHead head = it.head();
    int count = table.keyCount(subject);
    long keyBytes = 8L * count;
    var asPush =
        new KvHead(
            KvOp.PUSH,
            count == 0 ? KvHead.Keys.NONE : KvHead.Keys.INLINE,
            shard,
            head.table(),
            head.number(),
            head.settled(),
            head.clock(),
            0,
            0,
            count,
            head.part());
    forward(
        asPush,
        it.worker(),
        keyBytes + values.byteSize(),
        to -> {
          table.writeKeys(subject, to);
          MemorySegment.copy(values, 0, to, keyBytes, values.byteSize());
        },
        arrival);
  }

  /// What is still to be copied to a new mirror goes there now: what comes next reads it there.
  void finishCopy() {
    ShardCopy under = copy;
    if (under == null) {
      return;
    }
    while (link() != null && !under.advance()) {
      // each call takes some rows out
    }
    under.complete();
    under.close();
    copy = null;
  }

  /// Whether something is to be copied or sent.
  boolean isBusy() {
    MirrorLink to = link();
    return copy != null || (to != null && to.isBlocked());
  }

  /// Copies some rows; whether there was room to.
  boolean slice() {
    MirrorLink to = link();
    if (to != null) {
      to.flush();
    }
    ShardCopy under = copy;
    if (under == null) {
      return false;
    }
    if (to == null) {
      under.close();
      copy = null;
      return true;
    }
    if (!to.hasRoom()) {
      return false;
    }
    try {
      if (under.advance()) {
        under.complete();
        under.close();
        copy = null;
      }
    } catch (RowStoreException unread) {
      to.end(String.valueOf(unread.getMessage()));
      under.close();
      copy = null;
    }
    return true;
  }
}
