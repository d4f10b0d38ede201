// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.comm.CommException;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvHead;
import io.weft.kv.spec.Replicas;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One shard, which contains a part of every table, and this server's role for it. The answer to a
/// faulty request is its error; no input ends the server. Confined to its thread.
final class Shard {

  private static final Logger LOG = LoggerFactory.getLogger(Shard.class);

  private final int number;
  private final ShardContext context;
  private final ReplicaView replicas;
  private final ShardContent content;
  private final MirrorRole mirroring;
  private final Consumer<Runnable> onThread;
  private ShardRole role;

  /// The workers that have left while another server decides when that takes effect.
  private final Set<Integer> gone = new TreeSet<>();

  /// The requests of workers that have learned of a loss before this server, in order.
  private final ArrayDeque<Pending> early = new ArrayDeque<>();

  /// @param wake is called from any thread when memory of answers has become free
  /// @param news the known losses and replacements of servers
  /// @param onThread runs an action on the shard's thread, from any thread
  Shard(
      int number,
      ShardContext context,
      Runnable wake,
      ServerChanges news,
      Consumer<Runnable> onThread) {
    this.number = number;
    this.context = context;
    this.onThread = onThread;
    this.replicas = new ReplicaView(number, context, news);
    this.content = new ShardContent(number, context, wake, this::ended);
    this.mirroring = new MirrorRole(content);
    // Before the first loss, the initial primary and mirror have all of the shard, which is empty.
    boolean whole = replicas.hadFirst();
    if (replicas.isPrimary()) {
      boolean isFirst = whole && replicas.lost().isEmpty();
      role = primary(isFirst ? replicas.mirror() : Replicas.NONE, whole);
    } else {
      role = whole ? mirroring : empty();
    }
    publish();
  }

  private PrimaryRole primary(int mirror, boolean whole) {
    var replication = new ShardReplication(content, replicas, mirror, onThread);
    return new PrimaryRole(content, replicas, replication, mirroring, whole);
  }

  private CopyingRole empty() {
    return new CopyingRole(content, mirroring, Replicas.NONE, null);
  }

  /// Returns the primary, if this server answers workers now.
  private @Nullable PrimaryRole serving() {
    return role instanceof PrimaryRole primary && primary.serves() ? primary : null;
  }

  /// Publishes the role for other threads.
  private void publish() {
    boolean isServed =
        role instanceof PrimaryRole primary && primary.isWhole() && replicas.isPrimary();
    boolean isMirrored = isServed && ((PrimaryRole) role).isMirrored();
    context.states().tell(number, isServed, isMirrored);
  }

  // --- requests

  /// Executes a request of a worker and answers it, now or later.
  void serve(Pending it) {
    KvHead head = it.head();
    it.begun();
    try {
      if (it.worker() < 0) {
        throw new Refusal("rank " + it.fromRank() + " is not a worker");
      }
      adoptProposed(head.ring());
      int version = replicas.version();
      PrimaryRole primary = serving();
      if (head.ring() < version) {
        it.moved(replicas.current());
      } else if (primary != null && head.ring() == version) {
        primary.serve(it);
      } else {
        early.add(it); // this server will soon learn what the requester already knows
      }
    } catch (Refusal | RuntimeException | Error why) {
      content.answers().failed(it, why);
    }
  }

  /// Adopts the proposed replica set of a version that a requester knows from another server.
  private void adoptProposed(int version) {
    Replicas next = role instanceof CopyingRole copying ? copying.proposed() : null;
    if (next != null && next.version() == version) {
      adopt(next, TableOperation.NO_PEER);
    }
  }

  /// Executes an operation that another server has executed, or by which it copies the shard.
  void mirror(Pending it) {
    try {
      if (replicas.lost().contains(it.fromRank())) {
        throw new Refusal("rank " + it.fromRank() + " is lost; another server has its shards");
      }
      switch (it.head().op()) {
        case RING -> {
          adopt(told(it), TableOperation.NO_PEER);
          it.done(0);
        }
        case BEGIN -> begin(it, told(it));
        default -> role = role.mirror(it);
      }
    } catch (Refusal | RuntimeException | Error why) {
      content.answers().failed(it, why);
    }
  }

  /// Returns the replica set that a server announces. This server adopts the losses that the sender
  /// knows and may have acted on, because a rank that is lost to one rank is lost to all.
  private Replicas told(Pending it) throws Refusal {
    ReplicasNotice.Told told = ReplicasNotice.read(it.payload(), replicas.current());
    for (int rank : told.lost()) {
      if (rank != context.rank() && !replicas.lost().contains(rank)) {
        lose(rank);
      }
    }
    return told.ring();
  }

  /// Drops the content and begins to receive the shard from another server.
  ///
  /// @param next the replica set in which this server is to have the shard
  private void begin(Pending it, Replicas next) throws Refusal {
    int from = it.fromRank();
    int version = it.head().ring();
    if (role instanceof PrimaryRole) {
      throw new Refusal("rank " + context.rank() + " is the primary of the shard");
    }
    if (version < replicas.version()) {
      throw new Refusal(
          "rank %d copies shard %d by replica set %d, which is older than %d"
              .formatted(from, number, version, replicas.version()));
    }
    boolean isCurrent = next.version() == version;
    if (isCurrent) {
      replicas.set(next);
    }
    content.clear();
    var copying = new CopyingRole(content, mirroring, from, isCurrent ? null : next);
    copying.begun();
    role = copying;
    it.done(0);
  }

  // --- changes of the role

  /// Records the loss of a server, whose place this server may have to take.
  void lose(int rank) {
    replicas.lost().add(rank);
    Replicas next = role instanceof CopyingRole copying ? copying.proposed() : null;
    if (next != null && replicas.isLast(next)) {
      adopt(next, rank); // no other server could serve it by the old replica set
    } else if (role instanceof PrimaryRole primary) {
      primary.lose(rank);
    } else if (replicas.isPrimary()) {
      takeOver(rank, Replicas.NONE);
    }
    publish();
  }

  /// Adopts a replica set, if it is later than the current one.
  ///
  /// @param lost rank of the server whose loss is the cause; `NO_PEER` if there is none
  private void adopt(Replicas next, int lost) {
    if (next.version() <= replicas.version()) {
      return;
    }
    replicas.set(next);
    if (replicas.isPrimary()) {
      if (role instanceof PrimaryRole primary) {
        primary.mirrorAnew();
        retryEarly();
      } else {
        // The previous primary, which has copied the shard, becomes the mirror.
        boolean keeps =
            role instanceof CopyingRole it && it.isWhole() && it.from() == replicas.mirror();
        takeOver(lost, keeps ? replicas.mirror() : Replicas.NONE);
      }
    } else {
      stepDown();
      if (role instanceof CopyingRole copying) {
        role = copying.adopted();
      }
      if (!replicas.has()) {
        content.clear();
        role = empty();
      }
      retryEarly();
    }
    publish();
  }

  /// Becomes the primary.
  ///
  /// @param mirror rank of a mirror that has the whole shard; `NONE` if there is none
  private void takeOver(int lost, int mirror) {
    boolean whole = role.isWhole();
    if (lost == TableOperation.NO_PEER) {
      LOG.info(
          "rank {} now serves shard {} by replica set {}",
          context.rank(),
          number,
          replicas.current().text());
    } else {
      LOG.warn(
          "rank {} takes over shard {}{}",
          context.rank(),
          number,
          whole ? "" : ", which is incomplete here: requests to it are refused");
    }
    TableOperation takeover = context.states().events().begin("takeover", number, lost);
    PrimaryRole primary = primary(mirror, whole);
    role = primary;
    if (replicas.version() > 0) {
      replicas.announce(); // its announcer may have been lost before all processes had received it
    }
    content.tables().all().forEach(ShardTable::allUsed);
    leaveGone(primary);
    retryEarly();
    takeover.ended(whole ? null : new CommException.Mismatch("the shard is incomplete here"));
  }

  /// Becomes the mirror, if this server was the primary and has the whole shard.
  private void stepDown() {
    if (role instanceof PrimaryRole primary) {
      primary.end();
      primary.moveWaiting();
      role = primary.isWhole() ? mirroring : empty();
    }
  }

  private void leaveGone(PrimaryRole primary) {
    gone.forEach(primary::leave);
    gone.clear();
  }

  private void retryEarly() {
    for (int waiting = early.size(); waiting > 0; waiting--) {
      serve(early.remove());
    }
  }

  // --- events

  /// Excludes a worker that has left, so that no request waits for it any more.
  void leave(int rank) {
    int worker = context.worker(rank);
    PrimaryRole primary = serving();
    if (worker >= 0 && primary != null) {
      primary.leave(worker);
    } else if (worker >= 0) {
      gone.add(worker); // the primary decides when, between pushes
    }
  }

  /// Plans the replacement of the server at this position of the replica set.
  void returned(int position, int rank) {
    replicas.returned(position, rank);
  }

  private void ended(ShardTable table) {
    if (role instanceof PrimaryRole primary) {
      primary.ended(table);
    }
  }

  /// Retries the answers that waited for memory.
  void resume() {
    if (role instanceof PrimaryRole primary) {
      primary.resume();
    }
  }

  /// Fails the overdue requests of this process's own worker.
  void expire(long nowNanos) {
    content.tables().all().forEach(table -> ShardEnds.expire(number, table, nowNanos));
  }

  /// Returns whether there is something to write for a checkpoint, to copy or to announce.
  boolean isBusy() {
    return content.saves().isSaving()
        || replicas.isBusy()
        || (role instanceof PrimaryRole primary && primary.isBusy());
  }

  /// Writes or copies some of it. Returns whether there was something to do.
  boolean slice() {
    boolean some = content.saves().slice();
    replicas.flush();
    if (role instanceof PrimaryRole primary) {
      some |= primary.slice();
      if (primary.takeChanged()) {
        changed(primary);
        some = true;
      }
    }
    publish();
    return some;
  }

  /// Resumes the requests that have waited for a change of the replica set, here or on another
  /// server.
  private void changed(PrimaryRole primary) {
    if (primary.serves()) {
      leaveGone(primary);
    } else if (!replicas.isPrimary()) {
      stepDown();
    }
    retryEarly();
  }

  void close() {
    content.clear();
  }
}
