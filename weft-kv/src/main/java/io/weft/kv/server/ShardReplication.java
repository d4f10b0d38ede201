// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.server.Mirror.Arrival;
import io.weft.kv.server.Reconfiguration.Stage;
import io.weft.kv.server.ShardTable.Subject;
import io.weft.kv.spec.Replicas;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The forwarding of a primary's operations to the mirror of a shard, and the change of the replica
/// set by which another process gets a place in it. Confined to the shard's thread.
final class ShardReplication {

  private static final Logger LOG = LoggerFactory.getLogger(ShardReplication.class);

  private final int shard;
  private final ShardContext context;
  private final ReplicaView replicas;
  private final ShardContent source;
  private final Consumer<Runnable> onThread;
  private @Nullable Mirror mirror;
  private @Nullable Reconfiguration change;
  private boolean changed;

  /// @param source the content of the shard
  /// @param peer rank of a mirror that has the whole shard; `NONE` if there is none yet
  /// @param onThread runs an action on the shard's thread, from any thread
  ShardReplication(
      ShardContent source, ReplicaView replicas, int peer, Consumer<Runnable> onThread) {
    this.shard = source.shard();
    this.context = source.context();
    this.replicas = replicas;
    this.source = source;
    this.onThread = onThread;
    this.mirror = peer == Replicas.NONE ? null : mirror(peer);
  }

  private Mirror mirror(int peer) {
    return new Mirror(shard, peer, context, onThread);
  }

  private static @Nullable Mirror live(@Nullable Mirror it) {
    return it == null || !it.isLive() ? null : it;
  }

  /// Returns the process to which the shard is being copied to take a place.
  private @Nullable Mirror copied() {
    Reconfiguration under = change;
    return under == null ? null : live(under.copy());
  }

  /// Returns whether operations are forwarded to another server.
  boolean isMirrored() {
    return live(mirror) != null || copied() != null;
  }

  /// Returns whether the mirror has the whole shard.
  boolean hasWholeMirror() {
    Mirror now = live(mirror);
    return now != null && now.isWhole();
  }

  /// Returns whether a change of the replica set lets the requests of workers wait.
  boolean isStopping() {
    Reconfiguration under = change;
    return under != null && under.stage() != Stage.COPYING;
  }

  /// Ends the forwarding to a lost server.
  void lose(int rank) {
    Mirror now = live(mirror);
    if (now != null && now.peer() == rank) {
      now.end("it is lost");
    }
  }

  /// Copies the shard to the server that is to be its mirror, if that server has changed.
  void mirrorAnew() {
    Mirror now = mirror;
    int next = change == null && replicas.isPrimary() ? replicas.mirror() : Replicas.NONE;
    if (next != Replicas.NONE && (now == null || now.peer() != next)) {
      mirror = copyTo(next, replicas.current());
    }
  }

  private Mirror copyTo(int rank, Replicas next) {
    Mirror to = mirror(rank);
    LOG.info("rank {} copies shard {} to rank {}", context.rank(), shard, rank);
    TableOperation operation = context.states().events().begin("copy", shard, rank);
    byte[] bytes = ReplicasNotice.bytes(next, replicas.lost());
    to.copy(new ShardCopy(shard, to, source, replicas.version(), bytes), operation);
    return to;
  }

  /// Stops forwarding.
  void end(String why) {
    Mirror now = mirror;
    if (now != null) {
      now.end(why);
      mirror = null;
    }
    Mirror copy = copied();
    if (copy != null) {
      copy.end(why);
    }
    change = null;
  }

  // --- another process in a server's place

  /// Returns whether a planned replacement may begin.
  boolean mayBeginChange() {
    Mirror now = live(mirror);
    return change == null
        && replicas.isPrimary()
        && (now == null || now.isWhole())
        && replicas.nextPlace() >= 0;
  }

  /// Begins the next planned replacement.
  void beginChange() {
    int place = replicas.nextPlace();
    int rank = replicas.replacement(place);
    Replicas next = replicas.current().replaced(place, rank);
    change = new Reconfiguration(rank, next, replicas.has(next, rank) ? copyTo(rank, next) : null);
  }

  /// Abandons a change that cannot be completed. The shard continues as before.
  private void giveUp(Reconfiguration under) {
    LOG.warn(
        "rank {} goes on with shard {} without rank {}, to which it could not be copied",
        context.rank(),
        shard,
        under.rank());
    replicas.abandon(under.rank());
    Mirror copy = under.copy();
    if (copy != null) {
      copy.end("it could not be copied there");
    }
    change = null;
    changed = true;
    mirrorAnew();
  }

  /// Advances a change.
  ///
  /// @param mayStop true if the shard may stop serving now
  void advance(boolean mayStop) {
    Reconfiguration under = change;
    if (under == null || under.stage() == Stage.TELLING) {
      return;
    }
    if (under.hasFailed() || replicas.lost().contains(under.rank())) {
      giveUp(under);
      return;
    }
    if (under.stage() == Stage.COPYING && under.isWhole() && mayStop) {
      under.stage(Stage.STOPPING);
    }
    if (under.stage() == Stage.STOPPING && isIdle(mirror) && isIdle(under.copy())) {
      under.stage(Stage.TELLING);
      tellMirror(under);
    }
  }

  /// Returns whether a change has ended since the last call, so that waiting requests must be
  /// resumed.
  boolean takeChanged() {
    boolean so = changed;
    changed = false;
    return so;
  }

  private static boolean isIdle(@Nullable Mirror it) {
    Mirror now = live(it);
    return now == null || now.isIdle();
  }

  /// Notifies the mirror before any other process. Otherwise the mirror might take over the shard
  /// by the old replica set.
  private void tellMirror(Reconfiguration under) {
    Mirror now = live(mirror);
    if (now == null) {
      changed(under);
      return;
    }
    Replicas next = under.ring();
    byte[] bytes = ReplicasNotice.bytes(next, replicas.lost());
    now.forward(
        ReplicasNotice.head(KvOp.RING, shard, next.version()),
        0,
        bytes.length,
        it -> MemorySegment.copy(bytes, 0, it, JAVA_BYTE, 0, bytes.length),
        refusal -> {
          if (change != under) {
            return; // another server has become the primary meanwhile
          }
          if (refusal == null) {
            changed(under);
          } else {
            giveUp(under);
          }
        });
  }

  private void changed(Reconfiguration under) {
    change = null;
    changed = true;
    replicas.set(under.ring());
    Mirror copy = under.copy();
    Mirror before = mirror;
    if (copy != null && before != null) {
      before.end("rank " + under.rank() + " has taken its place");
    }
    if (copy != null) {
      mirror = replicas.isPrimary() && copy.isLive() ? copy : null;
    }
    LOG.info(
        "rank {} has changed the replica set of shard {} to {}; it {} it",
        context.rank(),
        shard,
        replicas.current().text(),
        replicas.isPrimary() ? "serves" : "mirrors");
    replicas.announce();
    mirrorAnew();
  }

  // --- forwarding

  /// Forwards an executed request.
  void forward(Pending it, Arrival arrival) {
    MemorySegment payload = it.payload();
    forward(it.head(), it.worker(), payload.byteSize(), to -> to.copyFrom(payload), arrival);
  }

  /// Forwards an executed operation to the mirror, and to the process to which the shard is being
  /// copied. `arrival` is notified when they have executed it, or at once if there is neither.
  void forward(KvHead head, int worker, long bytes, Consumer<MemorySegment> fill, Arrival arrival) {
    Mirror to = live(mirror);
    Mirror also = copied();
    if (also == null) {
      if (to == null) {
        arrival.over(null);
      } else {
        to.forward(head, worker, bytes, fill, arrival);
      }
    } else {
      var both = new BothArrivals(to == null ? 1 : 2, arrival);
      if (to != null) {
        to.forward(head, worker, bytes, fill, both);
      }
      also.forward(
          head,
          worker,
          bytes,
          fill,
          refusal -> {
            if (refusal != null) {
              also.end(refusal);
            }
            both.over(null);
          });
    }
  }

  /// Combines several arrivals into one, at the last of them.
  private static final class BothArrivals implements Arrival {
    private final Arrival all;
    private int open;
    private @Nullable String why;

    BothArrivals(int open, Arrival all) {
      this.open = open;
      this.all = all;
    }

    @Override
    public void over(@Nullable String refusal) {
      why = why == null ? refusal : why;
      if (--open == 0) {
        all.over(why);
      }
    }
  }

  /// Forwards an executed push to the mirror, always with its keys, because the mirror keeps no
  /// lists.
  void forwardPush(
      Pending it, ShardTable table, Subject subject, MemorySegment values, Arrival arrival) {
    KvHead head = it.head();
    int count = table.keyCount(subject);
    long keyBytes = 8L * count;
    var asPush =
        new KvHead(
            head.op() == KvOp.PUSH_PULL ? KvOp.PUSH : head.op(),
            new KvHead.Target(shard, head.table(), head.part(), 0),
            new KvHead.Progress(head.number(), head.settled(), head.clock()),
            new KvHead.Listed(count == 0 ? KvHead.Keys.NONE : KvHead.Keys.INLINE, count, 0, 0));
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

  /// Sends the rest of all copies now, because the next operation reads them on the other servers.
  void finishCopy() {
    Mirror to = mirror;
    if (to != null) {
      to.finishCopy();
    }
    Mirror also = copied();
    if (also != null) {
      also.finishCopy();
    }
  }

  /// Returns whether there is something to copy, send or change.
  boolean isBusy() {
    Mirror now = mirror;
    return change != null || (now != null && now.isBusy());
  }

  /// Copies some rows. Returns whether there was room for them.
  boolean slice() {
    Mirror now = mirror;
    boolean some = now != null && now.slice();
    Reconfiguration under = change;
    Mirror copy = under == null ? null : under.copy();
    return (copy != null && copy.slice()) || some;
  }
}
