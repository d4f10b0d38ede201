// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.server.MirrorLink.Arrival;
import io.weft.kv.server.Reconfiguration.Stage;
import io.weft.kv.server.ShardTable.Subject;
import io.weft.kv.spec.Replicas;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The role of this server for a shard: primary, mirror, or none. It knows the other servers of the
/// shard, and runs the change by which another process becomes one of them. Confined to the shard's
/// thread.
final class ShardMirror {

  private static final Logger LOG = LoggerFactory.getLogger(ShardMirror.class);

  private final int shard;
  private final ShardContext context;
  private final ShardCopy.Source source;
  private final Consumer<Runnable> onThread;
  private final ReplicasNotice news;
  private final Set<Integer> lost;

  /// Processes that are to get a place in the replica set, by position.
  private final Map<Integer, Integer> returned;

  private Replicas ring;

  /// The proposed replica set in which this server is to have the shard, and the server that copies
  /// the shard to it; until the set is adopted.
  private @Nullable Replicas proposed;

  private int proposer = Replicas.NONE;

  /// The number of requests of the proposer that were executed since it began to copy.
  private long taken;

  private boolean complete;
  private boolean serves;
  private @Nullable Mirror mirror;
  private @Nullable Reconfiguration change;
  private boolean turned;

  /// The new primary, until it has received the announcement of the replica set.
  private @Nullable Mirror successor;

  /// @param source of the shard
  /// @param news the known losses and replacements of servers
  /// @param onThread runs an action on the shard's thread, from any thread
  ShardMirror(
      int shard,
      ShardContext context,
      ShardCopy.Source source,
      ServerChanges news,
      Consumer<Runnable> onThread) {
    this.shard = shard;
    this.context = context;
    this.source = source;
    this.onThread = onThread;
    this.news = new ReplicasNotice(shard, context);
    this.lost = new TreeSet<>(news.lost());
    this.returned = new TreeMap<>(news.returned());
    this.ring = context.mirroring().replicas();
    // Before the first loss, the initial primary and mirror are complete, because the shard is
    // empty.
    complete =
        ring.primary(shard, Set.of()) == context.rank()
            || ring.mirror(shard, Set.of()) == context.rank();
    serves = ring.primary(shard, lost) == context.rank();
    int peer = serves ? ring.mirror(shard, lost) : Replicas.NONE;
    mirror = peer == Replicas.NONE ? null : Mirror.whole(link(peer));
    tellState();
  }

  /// Publishes the state for other threads.
  private void tellState() {
    Mirror now = live(mirror);
    context
        .states()
        .tell(shard, serves && complete, serves && complete && now != null && now.isWhole());
  }

  private MirrorLink link(int peer) {
    return new MirrorLink(shard, peer, context, onThread);
  }

  /// Returns whether this server answers workers now.
  boolean serves() {
    Reconfiguration under = change;
    return serves && (under == null || under.stage() == Stage.COPYING);
  }

  /// Returns whether this server has the whole shard.
  boolean isComplete() {
    return complete;
  }

  /// Returns the current replica set.
  Replicas ring() {
    return ring;
  }

  /// Returns the lost servers, for messages.
  Set<Integer> lost() {
    return lost;
  }

  /// Returns whether operations are forwarded to another server.
  boolean isMirrored() {
    return live(mirror) != null || copied() != null;
  }

  private static @Nullable Mirror live(@Nullable Mirror it) {
    return it == null || !it.isLive() ? null : it;
  }

  /// Returns the process to which the shard is being copied to take a place.
  private @Nullable Mirror copied() {
    Reconfiguration under = change;
    return under == null ? null : live(under.copy());
  }

  // --- losses

  /// Records the loss of a server. Returns whether this loss makes this server the primary.
  boolean lose(int rank) {
    lost.add(rank);
    boolean before = serves;
    Replicas next = proposed;
    if (next != null && complete && isLast(next)) {
      return adopt(next) && serves; // no other server could serve it by the old replica set
    }
    serves = ring.primary(shard, lost) == context.rank();
    mirrorAnew();
    if (serves && !before) {
      tellChanged();
    }
    return serves && !before;
  }

  /// Returns whether all other servers of a proposed replica set are lost. The old set then has no
  /// other live servers either.
  private boolean isLast(Replicas next) {
    return next.servers().stream().allMatch(rank -> rank == context.rank() || lost.contains(rank));
  }

  /// Announces the replica set again, because its announcer may have been lost before all processes
  /// had received it.
  private void tellChanged() {
    if (ring.version() > 0) {
      tellOthers(Replicas.NONE);
    }
  }

  /// Copies the shard to the server that is to be its mirror, if that server has changed.
  private void mirrorAnew() {
    Mirror now = mirror;
    if (now != null && now.isLive() && lost.contains(now.peer())) {
      now.end("it is lost");
    }
    int next = serves && complete && change == null ? ring.mirror(shard, lost) : Replicas.NONE;
    if (next != Replicas.NONE && (now == null || now.peer() != next)) {
      mirror = copyTo(next, ring);
    }
    tellState();
  }

  private Mirror copyTo(int rank, Replicas next) {
    MirrorLink to = link(rank);
    LOG.info("rank {} copies shard {} to rank {}", context.rank(), shard, rank);
    TableOperation operation = context.states().events().begin("copy", shard, rank);
    return Mirror.copying(
        to,
        new ShardCopy(shard, to, source, ring.version(), ReplicasNotice.bytes(next, lost)),
        operation);
  }

  // --- copies from another server

  /// Begins to receive the shard from another server. The caller must drop the old content.
  ///
  /// @param from rank of that server
  /// @param version of the replica set by which that server serves the shard
  /// @param next the replica set in which this server is to have the shard
  void begin(int from, int version, Replicas next) throws Refusal {
    if (version < ring.version()) {
      throw new Refusal(
          "rank %d copies shard %d by replica set %d, which is older than %d"
              .formatted(from, shard, version, ring.version()));
    }
    complete = false;
    proposer = from;
    taken = 0;
    if (next.version() == version) {
      proposed = null;
      ring = next;
    } else {
      proposed = next;
    }
  }

  /// Counts a request of the proposer that was executed here.
  void taken(int from) {
    if (from == proposer) {
      taken++;
    }
  }

  /// Completes the copy, if the number of executed requests equals the number in the payload.
  void completed(Pending it) throws Refusal {
    ShardTables.checkPayload(it, Long.BYTES);
    int from = it.request().fromRank();
    long requests = it.request().payload().get(JAVA_LONG_UNALIGNED, 0);
    if (from != proposer || taken != requests) {
      throw new Refusal(
          "rank %d has sent the shard in %d requests, but %d were executed here; it is incomplete"
              .formatted(from, requests, from == proposer ? taken : 0));
    }
    complete = true;
    LOG.info("rank {} has all of shard {} and mirrors it", context.rank(), shard);
  }

  /// Returns the proposed replica set of this version, if this server has the whole shard but has
  /// not received the announcement; otherwise null. The requester knows the version from another
  /// server.
  @Nullable Replicas ofVersion(int version) {
    Replicas next = proposed;
    return next != null && next.version() == version && complete ? next : null;
  }

  /// Adopts another replica set. Returns whether this server has the shard in it.
  boolean adopt(Replicas next) {
    boolean before = serves;
    ring = next;
    proposed = null;
    serves = ring.primary(shard, lost) == context.rank();
    boolean has = serves || ring.mirror(shard, lost) == context.rank();
    complete &= has;
    if (serves && !before && complete && ring.mirror(shard, lost) == proposer) {
      mirror = Mirror.whole(link(proposer)); // the old primary, which copied the shard
    }
    if (!serves) {
      endMirror("another server has it");
    }
    mirrorAnew();
    if (serves && !before) {
      LOG.info("rank {} now serves shard {} by replica set {}", context.rank(), shard, ring.text());
      tellChanged();
    }
    return has;
  }

  private void endMirror(String why) {
    Mirror now = mirror;
    if (now != null) {
      now.end(why);
      mirror = null;
    }
  }

  // --- another process in a server's place

  /// Plans the replacement of the server at this position.
  void returned(int position, int rank) {
    returned.put(position, rank);
  }

  /// Returns the position of a change that may begin, or -1 if there is none.
  private int nextPlace() {
    Mirror now = mirror;
    if (!serves || !complete || change != null || (now != null && now.isLive() && !now.isWhole())) {
      return -1;
    }
    for (Map.Entry<Integer, Integer> each : returned.entrySet()) {
      int rank = each.getValue();
      if (!lost.contains(rank) && !ring.servers().get(each.getKey()).equals(rank)) {
        return each.getKey();
      }
    }
    return -1;
  }

  private void beginChange(int place) {
    int rank = returned.getOrDefault(place, Replicas.NONE);
    Replicas next = ring.replaced(place, rank);
    boolean has = next.primary(shard, lost) == rank || next.mirror(shard, lost) == rank;
    change = new Reconfiguration(rank, next, has ? copyTo(rank, next) : null);
  }

  /// Abandons a change that cannot be completed. The shard continues as before.
  private void giveUp(Reconfiguration under) {
    LOG.warn(
        "rank {} goes on with shard {} without rank {}, to which it could not be copied",
        context.rank(),
        shard,
        under.rank());
    returned.values().remove(under.rank());
    Mirror copy = under.copy();
    if (copy != null) {
      copy.end("it could not be copied there");
    }
    change = null;
    turned = true;
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
    if (under.hasFailed() || lost.contains(under.rank())) {
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
  boolean takeTurned() {
    boolean so = turned;
    turned = false;
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
    sendRing(
        now,
        under.ring(),
        refusal -> {
          if (refusal == null) {
            changed(under);
          } else {
            giveUp(under);
          }
        });
  }

  private void sendRing(Mirror to, Replicas next, Arrival arrival) {
    byte[] bytes = ReplicasNotice.bytes(next, lost);
    to.forward(
        ReplicasNotice.head(KvOp.RING, shard, next.version()),
        0,
        bytes.length,
        it -> MemorySegment.copy(bytes, 0, it, JAVA_BYTE, 0, bytes.length),
        arrival);
  }

  private void changed(Reconfiguration under) {
    change = null;
    turned = true;
    ring = under.ring();
    serves = ring.primary(shard, lost) == context.rank();
    Mirror copy = under.copy();
    if (copy != null) {
      endMirror("rank " + under.rank() + " has taken its place");
      if (copy.isLive()) {
        sendRing(copy, ring, refusal -> {});
        if (serves) {
          mirror = copy;
        } else {
          successor = copy;
        }
      }
    }
    LOG.info(
        "rank {} has changed the replica set of shard {} to {}; it {} it",
        context.rank(),
        shard,
        ring.text(),
        serves ? "serves" : "mirrors");
    tellOthers(copy == null ? Replicas.NONE : under.rank());
    mirrorAnew();
  }

  /// @param told the process that is notified after its copy; `NONE` if there is none
  private void tellOthers(int told) {
    Set<Integer> peers = new TreeSet<>(ring.servers());
    peers.addAll(context.mirroring().replicas().servers());
    peers.addAll(returned.values());
    peers.addAll(context.workers());
    peers.removeAll(lost);
    peers.remove(context.rank());
    peers.remove(told);
    news.tell(ring, lost, peers);
  }

  // --- what is done here

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
    return change != null
        || successor != null
        || news.isBusy()
        || (mirror != null && mirror.isBusy())
        || nextPlace() >= 0;
  }

  /// Copies some rows. Returns whether there was room for them.
  boolean slice() {
    boolean some = false;
    Mirror now = mirror;
    if (now != null) {
      some = now.slice();
    }
    Mirror after = successor;
    if (after != null) {
      some |= after.slice();
      if (!after.isLive() || after.isIdle()) {
        successor = null;
      }
    }
    news.flush(ring);
    tellState();
    int place = nextPlace();
    if (place >= 0) {
      beginChange(place);
    }
    Reconfiguration under = change;
    Mirror copy = under == null ? null : under.copy();
    return (copy != null && copy.slice()) || some;
  }
}
