// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.server.Handover.Stage;
import io.weft.kv.server.MirrorLink.Arrival;
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

/// What this server is to a shard: it serves it, mirrors it, or has nothing of it; the other
/// servers that have it, and the change by which another process becomes one of them. Confined to
/// the shard's thread.
final class ShardMirror {

  private static final Logger LOG = LoggerFactory.getLogger(ShardMirror.class);

  private final int shard;
  private final ShardContext context;
  private final ShardCopy.Source source;
  private final Consumer<Runnable> onThread;
  private final RingNews news;
  private final Set<Integer> lost;

  /// Processes that shall have a place in the ring, by place.
  private final Map<Integer, Integer> returned;

  private Replicas ring;

  /// In which this server shall have the shard, and who copies it; until that is so.
  private @Nullable Replicas proposed;

  private int proposer = Replicas.NONE;

  /// Requests of the proposer that were done since it began to copy.
  private long taken;

  private boolean complete;
  private boolean serves;
  private @Nullable Mirror mirror;
  private @Nullable Handover change;
  private boolean turned;

  /// Who has the shard now, and has not heard of it yet.
  private @Nullable Mirror successor;

  /// @param source of the shard
  /// @param news what is known already of losses and of processes in their place
  /// @param onThread runs something on the shard's thread, from any
  ShardMirror(
      int shard,
      ShardContext context,
      ShardCopy.Source source,
      ServerNews news,
      Consumer<Runnable> onThread) {
    this.shard = shard;
    this.context = context;
    this.source = source;
    this.onThread = onThread;
    this.news = new RingNews(shard, context);
    this.lost = new TreeSet<>(news.lost());
    this.returned = new TreeMap<>(news.returned());
    this.ring = context.mirroring().replicas();
    // Before the first loss, what those two have is all there is: nothing.
    complete =
        ring.primary(shard, Set.of()) == context.rank()
            || ring.mirror(shard, Set.of()) == context.rank();
    serves = ring.primary(shard, lost) == context.rank();
    int peer = serves ? ring.mirror(shard, lost) : Replicas.NONE;
    mirror = peer == Replicas.NONE ? null : Mirror.whole(link(peer));
    tellState();
  }

  /// For other threads.
  private void tellState() {
    Mirror now = live(mirror);
    context
        .states()
        .tell(shard, serves && complete, serves && complete && now != null && now.isWhole());
  }

  private MirrorLink link(int peer) {
    return new MirrorLink(shard, peer, context, onThread);
  }

  /// Whether this server answers workers now.
  boolean serves() {
    Handover under = change;
    return serves && (under == null || under.stage() == Stage.COPYING);
  }

  /// Whether all there is of the shard is here.
  boolean isComplete() {
    return complete;
  }

  /// Which servers have it.
  Replicas ring() {
    return ring;
  }

  /// Servers that are lost, for messages.
  Set<Integer> lost() {
    return lost;
  }

  /// Whether what is done here goes to another server as well.
  boolean isMirrored() {
    return live(mirror) != null || copied() != null;
  }

  private static @Nullable Mirror live(@Nullable Mirror it) {
    return it == null || !it.isLive() ? null : it;
  }

  /// The process to which the shard is being copied to take a place.
  private @Nullable Mirror copied() {
    Handover under = change;
    return under == null ? null : live(under.copy());
  }

  // --- losses

  /// A server is lost. Whether this one serves the shard from now on and did not before.
  boolean lose(int rank) {
    lost.add(rank);
    boolean before = serves;
    Replicas next = proposed;
    if (next != null && complete && isLast(next)) {
      return adopt(next) && serves; // nobody is left who could serve it by the ring before
    }
    serves = ring.primary(shard, lost) == context.rank();
    mirrorAnew();
    if (serves && !before) {
      tellChanged();
    }
    return serves && !before;
  }

  /// Whether all others of a ring that is proposed are lost; the one before has no others that are
  /// not.
  private boolean isLast(Replicas next) {
    return next.servers().stream().allMatch(rank -> rank == context.rank() || lost.contains(rank));
  }

  /// Whoever has told of a ring may have been lost before all had heard of it.
  private void tellChanged() {
    if (ring.version() > 0) {
      tellOthers(Replicas.NONE);
    }
  }

  /// Copies the shard to the server that shall mirror it, if that is another one than now.
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
    return Mirror.copying(
        to, new ShardCopy(shard, to, source, ring.version(), RingNews.bytes(next, lost)));
  }

  // --- copies from another server

  /// What there is of the shard will come from another server; what was here is to be dropped.
  ///
  /// @param from rank of that server
  /// @param version of the ring by which it serves the shard
  /// @param next the ring in which this one shall have it
  void begin(int from, int version, Replicas next) throws Refusal {
    if (version < ring.version()) {
      throw new Refusal(
          "rank %d copies shard %d by ring %d, which ring %d has followed"
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

  /// What a server has sent was done here.
  void taken(int from) {
    if (from == proposer) {
      taken++;
    }
  }

  /// The shard has come over, in as many requests as the payload says.
  void completed(Pending it) throws Refusal {
    ShardTables.checkPayload(it, Long.BYTES);
    int from = it.request().fromRank();
    long requests = it.request().payload().get(JAVA_LONG_UNALIGNED, 0);
    if (from != proposer || taken != requests) {
      throw new Refusal(
          "rank %d has sent the shard in %d requests, of which %d were done here; it is not whole"
              .formatted(from, requests, from == proposer ? taken : 0));
    }
    complete = true;
    LOG.info("rank {} has all of shard {} and mirrors it", context.rank(), shard);
  }

  /// The ring of this version, in which this server has the whole shard, but of which it was not
  /// told yet; null = none. Who names it knows it from another server.
  @Nullable Replicas ofVersion(int version) {
    Replicas next = proposed;
    return next != null && next.version() == version && complete ? next : null;
  }

  /// Another ring counts; whether anything of the shard is here in it.
  boolean adopt(Replicas next) {
    boolean before = serves;
    ring = next;
    proposed = null;
    serves = ring.primary(shard, lost) == context.rank();
    boolean has = serves || ring.mirror(shard, lost) == context.rank();
    complete &= has;
    if (serves && !before && complete && ring.mirror(shard, lost) == proposer) {
      mirror = Mirror.whole(link(proposer)); // from there it has come
    }
    if (!serves) {
      endMirror("another server has it");
    }
    mirrorAnew();
    if (serves && !before) {
      LOG.info("rank {} serves shard {} now, by ring {}", context.rank(), shard, ring.text());
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

  /// A process shall have this place in the ring.
  void returned(int position, int rank) {
    returned.put(position, rank);
  }

  /// A change that may begin: the place, -1 = none.
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
    change = new Handover(rank, next, has ? copyTo(rank, next) : null);
  }

  /// Gives a change up that cannot come about; the shard goes on as it was.
  private void giveUp(Handover under) {
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

  /// Goes on with a change.
  ///
  /// @param mayStop whether the shard may stop now
  void advance(boolean mayStop) {
    Handover under = change;
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

  /// Whether a change has come to an end since the last call: requests that have waited go on.
  boolean takeTurned() {
    boolean so = turned;
    turned = false;
    return so;
  }

  private static boolean isIdle(@Nullable Mirror it) {
    Mirror now = live(it);
    return now == null || now.isIdle();
  }

  /// The mirror must know before anybody acts by the new ring: it would take over by the old one.
  private void tellMirror(Handover under) {
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
    byte[] bytes = RingNews.bytes(next, lost);
    to.forward(
        RingNews.head(KvOp.RING, shard, next.version()),
        0,
        bytes.length,
        it -> MemorySegment.copy(bytes, 0, it, JAVA_BYTE, 0, bytes.length),
        arrival);
  }

  private void changed(Handover under) {
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
        "rank {} has changed the ring of shard {} to {}; it {} it",
        context.rank(),
        shard,
        ring.text(),
        serves ? "serves" : "mirrors");
    tellOthers(copy == null ? Replicas.NONE : under.rank());
    mirrorAnew();
  }

  /// @param told who hears of it behind what is copied to it; `NONE` = nobody
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

  /// Sends a request that was done here to the mirror, and to the process to which the shard is
  /// being copied; `arrival` hears when it is there, or at once without one.
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

  /// Hears of several arrivals; tells of all at the last one.
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

  /// What is still to be copied to other servers goes there now: what comes next reads it there.
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

  /// Whether something is to be copied, sent or changed.
  boolean isBusy() {
    return change != null
        || successor != null
        || news.isBusy()
        || (mirror != null && mirror.isBusy())
        || nextPlace() >= 0;
  }

  /// Copies some rows; whether there was room to.
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
    Handover under = change;
    Mirror copy = under == null ? null : under.copy();
    return (copy != null && copy.slice()) || some;
  }
}
