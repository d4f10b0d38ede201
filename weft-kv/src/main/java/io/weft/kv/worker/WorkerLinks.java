// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.agent.AgentRunner;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.comm.CommException;
import io.weft.kv.event.OperationNames;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.spec.Replicas;
import io.weft.kv.worker.ShardRequest.Memory;
import io.weft.kv.worker.ShardRequest.What;
import io.weft.observer.ObservedOperation.Service;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The connections of one worker to all servers. Any thread.
public final class WorkerLinks {

  private static final Logger LOG = LoggerFactory.getLogger(WorkerLinks.class);

  /// How long a request waits for a replacement of its lost servers.
  private static final long REPLACED_NANOS = 2_000_000_000;

  private final ShardLanes lanes;
  private final List<AgentRunner> runners;
  private final Terms terms;
  private final @Nullable Consumer<IncomingRequest> local;

  /// The numbers of pushes, by shard.
  private final PushNumbers[] numbers;

  private final Replicas[] rings;

  private final Map<Place, ServerLink> byPlace = new HashMap<>();
  private final Set<Integer> lost = new TreeSet<>();

  private final Set<Unserved> unserved = new LinkedHashSet<>();

  /// The destination of each shard's requests. Replaced as a whole when a server is lost or
  /// replaced.
  private volatile Route[] byShard;

  /// The destination of a shard's requests.
  ///
  /// @param ring version of the replica set by which it was chosen
  private record Route(ServerLink link, int ring) {}

  /// A server's end of a lane.
  private record Place(int server, int lane) {}

  /// A request whose servers are all lost.
  ///
  /// @param fails fails the request
  private record Unserved(ShardRequest it, Runnable fails) {}

  /// The parameters of the connections.
  ///
  /// @param rank of the worker
  /// @param kind of the requests on the channel
  /// @param shards the number of shards
  /// @param inFlightBytes the maximum number of unanswered bytes per server and lane
  /// @param limit how long a request may take
  public record Terms(int rank, int kind, int shards, long inFlightBytes, Duration limit) {}

  /// @param lanes carry the requests; values that cannot be sent from, or received into, their own
  ///   memory use the memory of the lane
  /// @param replicas the servers of each shard
  /// @param local receives requests to shards of this rank; null if it has none
  public WorkerLinks(
      ShardLanes lanes, Terms terms, Replicas replicas, @Nullable Consumer<IncomingRequest> local) {
    this.lanes = lanes;
    this.runners = lanes.runners();
    this.terms = terms;
    this.local = local;
    this.rings = new Replicas[terms.shards()];
    Arrays.fill(rings, replicas);
    this.numbers = new PushNumbers[terms.shards()];
    Arrays.setAll(numbers, shard -> new PushNumbers());
    this.byShard = routes();
  }

  private synchronized Route[] routes() {
    Route[] routes = new Route[terms.shards()];
    for (int shard = 0; shard < routes.length; shard++) {
      int server = rings[shard].primary(shard, lost);
      routes[shard] =
          server == Replicas.NONE
              ? byShard[shard] // the next request fails like the last one
              : new Route(link(server, lanes.ofShard().applyAsInt(shard)), rings[shard].version());
    }
    return routes;
  }

  /// Returns the connection to a server on a lane. Called under the lock.
  private ServerLink link(int server, int lane) {
    return byPlace.computeIfAbsent(
        new Place(server, lane), it -> new ServerLink(this, it.server(), lanes.all().get(lane)));
  }

  private synchronized Set<Integer> servers() {
    Set<Integer> servers = new TreeSet<>();
    for (Replicas ring : rings) {
      servers.addAll(ring.servers());
    }
    return servers;
  }

  /// Sends a text to all servers that are not lost. The result is their answers by rank.
  public KvHandle<Map<Integer, byte[]>> command(byte[] text) throws InterruptedException {
    Map<Integer, byte[]> answers = new ConcurrentSkipListMap<>();
    KvHandle<Map<Integer, byte[]>> handle =
        handle(
            "command to the servers",
            begin(OperationNames.NO_TABLE, KvOp.COMMAND, 0, text.length),
            () -> answers);
    try {
      for (int server : servers()) {
        ServerLink link;
        synchronized (this) {
          if (lost.contains(server)) {
            continue;
          }
          link = link(server, 0);
        }
        submit(
            link,
            new ShardRequest(
                new What(KvOp.COMMAND, 0, 0, 0),
                new Memory(null, 0, MemorySegment.ofArray(text), null),
                handle,
                (reply, written) -> answers.put(server, written.toArray(JAVA_BYTE))));
      }
    } finally {
      handle.sealed();
    }
    return handle;
  }

  /// Sends the request of a lost server to another server that has its shard. If no such server is
  /// known, waits for the announcement of a replacement, and then runs `fails`. Returns false if no
  /// other server can have the shard.
  boolean elsewhere(ShardRequest it, Runnable fails) {
    synchronized (this) {
      if (!rings[it.what().shard()].isMirrored() || it.what().op() == KvOp.COMMAND) {
        return false; // a command was for that server alone
      }
      int server = it.server();
      if (lost.add(server)) {
        LOG.warn("rank {}: server {} is lost; its shards' mirrors are used", terms.rank(), server);
        byShard = routes();
      }
    }
    askOrWait(it, fails);
    return true;
  }

  private void askOrWait(ShardRequest it, Runnable fails) {
    var waits = new Unserved(it, fails);
    boolean served;
    synchronized (this) {
      served = isServed(it.what().shard());
      if (!served) {
        unserved.add(waits);
      }
    }
    if (served) {
      again(it);
    } else if (!first().schedule(first().nanos() + REPLACED_NANOS, () -> giveUp(waits))) {
      giveUp(waits);
    }
  }

  /// Fails a request for which no replacement was announced.
  private void giveUp(Unserved waits) {
    boolean still;
    synchronized (this) {
      still = unserved.remove(waits);
    }
    if (still) {
      waits.fails().run();
    }
  }

  /// Returns whether a server of the shard is not lost. Called under the lock.
  private boolean isServed(int shard) {
    return rings[shard].primary(shard, lost) != Replicas.NONE;
  }

  /// Adopts the replica set that a server has reported, and sends the request again if one of its
  /// servers is not lost. Returns whether it did.
  boolean moved(ShardRequest it, String ring) {
    int shard = it.what().shard();
    try {
      ring(shard, ring);
    } catch (IllegalArgumentException wrong) {
      return false;
    }
    synchronized (this) {
      if (!isServed(shard)) {
        return false;
      }
    }
    again(it);
    return true;
  }

  private void again(ShardRequest it) {
    it.again();
    Route next = byShard[it.what().shard()];
    it.ring(next.ring());
    next.link().follow(it);
  }

  /// Adopts a newer replica set of a shard, in which another process has taken the place of a lost
  /// server. Throws `IllegalArgumentException` if the text is invalid.
  public void ring(int shard, String text) {
    List<Unserved> servedNow = new ArrayList<>();
    synchronized (this) {
      if (shard >= rings.length) {
        throw new IllegalArgumentException("shard " + shard + " of " + rings.length);
      }
      Replicas later = rings[shard].after(text);
      if (later.version() <= rings[shard].version()) {
        return;
      }
      rings[shard] = later;
      byShard = routes();
      if (isServed(shard)) {
        unserved.stream()
            .filter(waits -> waits.it().what().shard() == shard)
            .forEach(servedNow::add);
        unserved.removeAll(servedNow);
      }
    }
    servedNow.forEach(waits -> again(waits.it()));
  }

  /// Returns the rank of the server to which requests to a shard are sent.
  int server(int shard) {
    return byShard[shard].link().server();
  }

  /// Returns the number of shards.
  public int shards() {
    return terms.shards();
  }

  /// Returns whether the calling thread is inside a lane's agent, as in a callback.
  boolean isInside() {
    return lanes.isInside();
  }

  private AgentRunner first() {
    return runners.getFirst();
  }

  Terms terms() {
    return terms;
  }

  Duration limit() {
    return terms.limit();
  }

  /// Returns the numbers of pushes to the shard of a request.
  PushNumbers numbers(ShardRequest it) {
    return numbers[it.what().shard()];
  }

  /// Returns the receiver of requests to this server if it is in this process, otherwise null.
  @Nullable Consumer<IncomingRequest> local(int server) {
    return server == terms.rank() ? local : null;
  }

  /// Begins an operation of this worker on a table.
  ///
  /// @param rows the number of the rows concerned
  /// @param bytes of the values that are sent or requested
  TableOperation begin(OperationNames names, KvOp op, long rows, long bytes) {
    var operation =
        new TableOperation(
            lanes.first().channel().events(),
            new TableOperation.Subject(Service.KV_WORKER, names.of(op), names.table(), rows, bytes),
            TableOperation.NO_PEER);
    operation.begun();
    return operation;
  }

  /// Creates the handle of an operation of this worker.
  ///
  /// @param words a description of the operation
  <T> KvHandle<T> handle(
      String words, TableOperation operation, Supplier<? extends @Nullable T> result) {
    return handle(words, operation, result, null);
  }

  /// Creates the handle of a push or pull, whose failures `whole` interprets.
  <T> KvHandle<T> handle(
      String words,
      TableOperation operation,
      Supplier<? extends @Nullable T> result,
      @Nullable WholePush whole) {
    return new KvHandle<>(runners, "rank " + terms.rank() + ": " + words, operation, result, whole);
  }

  int rank() {
    return terms.rank();
  }

  void submit(
      What what, Memory memory, KvHandle<?> handle, BiConsumer<KvReply, MemorySegment> onReply)
      throws InterruptedException {
    submit(what, memory, handle, onReply, terms.limit());
  }

  /// Sends a request with its own limit.
  void submit(
      What what,
      Memory memory,
      KvHandle<?> handle,
      BiConsumer<KvReply, MemorySegment> onReply,
      Duration limit)
      throws InterruptedException {
    var request = new ShardRequest(what, memory, handle, onReply);
    request.limit(limit);
    Route route = byShard[what.shard()];
    request.ring(route.ring());
    submit(route.link(), request);
  }

  /// Sends a request. Throws the cause if it is refused, unless other requests of the handle are in
  /// progress and borrow the caller's memory. In that case the handle fails.
  private void submit(ServerLink link, ShardRequest request) throws InterruptedException {
    KvHandle<?> handle = request.handle();
    boolean first = handle.isIdle();
    handle.add();
    try {
      link.submit(request);
    } catch (InterruptedException interrupted) {
      notSent(request, interrupted);
      throw interrupted;
    } catch (RuntimeException | Error refused) {
      notSent(request, refused);
      if (first) {
        throw refused;
      }
    }
  }

  private void notSent(ShardRequest request, Throwable refused) {
    KvHandle<?> handle = request.handle();
    handle.stop();
    handle.failed(
        request.what(),
        KvHandle.Fate.NOT_DONE,
        refused instanceof CommException known
            ? known
            : new CommException.Broken(handle.words() + ": " + refused, terms.rank(), refused));
  }

  /// Sends a request on the progress thread, which does not wait.
  void follow(
      What what, Memory memory, KvHandle<?> handle, BiConsumer<KvReply, MemorySegment> onReply) {
    handle.add();
    Route route = byShard[what.shard()];
    var request = new ShardRequest(what, memory, handle, onReply);
    request.ring(route.ring());
    route.link().follow(request);
  }
}
