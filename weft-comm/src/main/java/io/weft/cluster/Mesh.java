// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.agent.Agent;
import io.weft.agent.PolledClock;
import io.weft.agent.Ticker;
import io.weft.cluster.watch.Heartbeat;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.limit.Span;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// One endpoint to every other rank of an epoch, over one transport; the agent that polls it. Rank
/// r connects to the ranks below it and is found by those above. The service spoken to stands in
/// the first byte of a message; the immediate value of a write is a token of its receiver. A rank
/// that one rank has lost is lost to all (docs/protocol/mesh.md). Confined to the progress thread
/// once `connect` has returned.
public final class Mesh implements Agent, FrameSink {

  private static final long GRACEFUL_CLOSE_NANOS = Span.nanos(Duration.ofSeconds(2));

  private final int rank;
  private final Ticker ticker;
  private final MeshServices services;
  private final TokenTable tokens = new TokenTable();
  private final Heartbeat heartbeat;
  private final Transport transport;
  private final PolledClock attention = new PolledClock();
  private final List<Endpoint> early = new ArrayList<>();

  /// From other progress threads of this rank: a rank that is lost there. At most one for each rank
  /// and thread.
  private final ConcurrentLinkedQueue<MeshFrame.Lost> news = new ConcurrentLinkedQueue<>();

  private List<Mesh> threads = List.of(this);
  private int thread;
  private @Nullable Topology topology;
  private @Nullable Endpoint[] endpoints = new Endpoint[0];
  private LivenessMonitor liveness;
  private FailureTracker failureTracker;
  private int connected;
  private Joining.@Nullable Obstacle obstacle;
  private long now;
  private boolean joining;
  private @Nullable GracefulClose gracefulClose;
  private boolean closing;
  private volatile boolean closed;

  /// Opens the transport with this mesh as its sink.
  ///
  /// @param services what will speak over it, each with an id of its own
  /// @param open opens a transport for a sink
  public Mesh(
      int rank,
      Ticker ticker,
      Heartbeat heartbeat,
      List<MeshService> services,
      Function<FrameSink, Transport> open) {
    this.rank = rank;
    this.ticker = ticker;
    this.heartbeat = heartbeat;
    this.services = new MeshServices(services);
    this.liveness = new LivenessMonitor(this, 0, heartbeat, attention);
    this.failureTracker = new FailureTracker(this, this.services, liveness, 0);
    this.transport = open.apply(this);
  }

  /// It is the mesh of one of several progress threads of this rank. Before `connect`.
  void isOneOf(List<Mesh> all, int number) {
    threads = all;
    thread = number;
  }

  /// Number of its progress thread on this rank.
  int thread() {
    return thread;
  }

  /// The transport; see its rules about threads.
  public Transport transport() {
    return transport;
  }

  /// Who is in the job. Throws `IllegalStateException` before `connect`.
  public Topology topology() {
    Topology known = topology;
    if (known == null) {
      throw new IllegalStateException("the mesh is not connected yet");
    }
    return known;
  }

  /// This process's rank.
  public int rank() {
    return rank;
  }

  /// What peers answer to. Progress thread.
  public TokenTable tokens() {
    return tokens;
  }

  /// The endpoint to a rank that is neither gone nor this one.
  public Endpoint endpoint(int peer) {
    Endpoint endpoint = endpoints[peer];
    if (endpoint == null) {
      throw new IllegalStateException("no endpoint to " + topology().describe(peer));
    }
    return endpoint;
  }

  /// Whether the rank has left or is lost.
  public boolean isGone(int peer) {
    return failureTracker.isGone(peer);
  }

  /// Whether any rank has left in order.
  public boolean hasAnyLeft() {
    return failureTracker.hasAnyLeft();
  }

  /// Whether the rank has left in order.
  public boolean hasLeft(int peer) {
    return failureTracker.hasLeft(peer);
  }

  /// Whether connections broke for a reason that is not clear yet, but soon will be.
  public boolean isPuzzled() {
    return failureTracker.isPuzzled();
  }

  /// The progress thread's clock.
  public long nanos() {
    return ticker.nanos();
  }

  /// When the rank was last heard of, in nanoseconds of the progress thread's clock.
  public long lastSeen(int peer) {
    return liveness.lastSeen(peer);
  }

  /// Whether nothing moves between this rank and the peer, neither way, for two heartbeats at
  /// least.
  public boolean isStuck(int peer) {
    return liveness.isStuck(peer);
  }

  /// The time in which this rank looked, and whether it stood still.
  public PolledClock attention() {
    return attention;
  }

  /// Time of the duty cycle that runs.
  long now() {
    return now;
  }

  /// The endpoint to a rank with which this one is connected, or null.
  @Nullable Endpoint live(int peer) {
    return failureTracker.isGone(peer) ? null : endpoints[peer];
  }

  /// With how many ranks this one is connected.
  long liveCount() {
    return IntStream.range(0, endpoints.length).filter(peer -> live(peer) != null).count();
  }

  // --- the beginning

  /// Connects to all ranks, on the calling thread, before the progress thread starts. Throws
  /// `CommException.Setup` naming the ranks that did not come, or the one that was lost meanwhile.
  public void connect(Topology members, Duration deadline) {
    topology = members;
    endpoints = new Endpoint[members.size()];
    liveness = new LivenessMonitor(this, members.size(), heartbeat, attention);
    failureTracker = new FailureTracker(this, services, liveness, members.size());
    now = ticker.nanos();
    services.onStart(this);
    early.forEach(this::accept);
    joining = true;
    new Joining(this, members, ticker, deadline).run();
    joining = false;
  }

  /// One turn while the connections are made.
  int turn(long nowNanos) {
    now = nowNanos;
    long standstill = attention.turn(nowNanos);
    if (standstill > 0) {
      liveness.stoodStill(standstill);
    }
    int done = transport.poll(nowNanos) + failureTracker.turn();
    liveness.turn(nowNanos);
    return threads.size() == 1 ? done : done + hearNews();
  }

  /// The same, and the meshes of this rank that are connected already, which their peers need.
  int turnJoining(long nowNanos) {
    int done = 0;
    for (int other = 0; other < thread; other++) {
      done += threads.get(other).turn(nowNanos);
    }
    return done + turn(nowNanos);
  }

  private int hearNews() {
    int heard = 0;
    for (MeshFrame.Lost lost = news.poll(); lost != null; lost = news.poll()) {
      failureTracker.toldHere(lost);
      heard++;
    }
    return heard;
  }

  /// Tells the other progress threads of this rank who is lost.
  void tellThreads(MeshFrame.Lost lost) {
    for (Mesh other : threads) {
      if (other != this && !other.closed) {
        other.news.add(lost);
        other.wake();
      }
    }
  }

  /// Why this rank cannot join, or null.
  Joining.@Nullable Obstacle obstacle() {
    return obstacle;
  }

  /// Whether all connections have been made and none of them has broken for a reason that may still
  /// be told.
  boolean isConnected() {
    return connected == endpoints.length - 1 && !isPuzzled();
  }

  /// Whether any mesh of this rank is being connected.
  boolean isJoining() {
    for (Mesh mesh : threads) {
      if (mesh.joining) {
        return true;
      }
    }
    return false;
  }

  List<Integer> missing() {
    return IntStream.range(0, endpoints.length)
        .filter(peer -> peer != rank && endpoints[peer] == null)
        .boxed()
        .toList();
  }

  /// Tells the others that this rank ends, and why.
  void resign(String why) {
    failureTracker.resign(why);
  }

  /// This rank cannot join; the first reason counts.
  void hinder(String why, List<Integer> ranks) {
    if (obstacle == null) {
      obstacle = new Joining.Obstacle(why, ranks);
    }
  }

  // --- the sink

  @Override
  public void onConnect(Endpoint endpoint) {
    if (topology == null) {
      early.add(endpoint);
    } else {
      accept(endpoint);
    }
  }

  private void accept(Endpoint endpoint) {
    int peer = endpoint.node();
    if (peer < 0 || peer >= endpoints.length || peer == rank || endpoints[peer] != null) {
      endpoint.close();
    } else {
      endpoints[peer] = endpoint;
      connected++;
      liveness.begin(peer, now);
      failureTracker.met();
    }
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    int peer = from.node();
    if (failureTracker.isCondemned(peer)) {
      return;
    }
    if (!MeshFrame.isOne(message)) {
      if (!services.onMessage(peer, message)) {
        drop(peer, "it sent a message to a service that there is not");
      }
      return;
    }
    switch (MeshFrame.read(message)) {
      case MeshFrame.Goodbye _ -> failureTracker.leave(peer);
      case MeshFrame.Heartbeat _ -> {}
      case MeshFrame.Lost lost when lost.isWithin(endpoints.length) -> {
        if (lost.rank() == rank) {
          failureTracker.exclude(lost.witness(), lost.why());
        } else {
          failureTracker.told(lost);
        }
      }
      case null, default -> drop(peer, "it sent a message of the mesh that cannot be read");
    }
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {
    int peer = from.node();
    if (failureTracker.isCondemned(peer)) {
      return;
    }
    TokenOwner owner = tokens.find(immediate);
    if (owner == null ? !tokens.isPast(immediate) : !owner.onWritten(peer)) {
      drop(peer, "it wrote for an operation in which it has no part");
    }
  }

  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    int peer = from.node();
    String what = Objects.requireNonNullElse(cause.getMessage(), cause.toString());
    if (peer < 0 || peer >= endpoints.length || endpoints[peer] != from) {
      early.remove(from);
      if (joining && peer >= 0 && peer < endpoints.length && endpoints[peer] == null) {
        failureTracker.unreached(peer, what);
      } else {
        hinder("it has no connection to rank " + peer + ": " + what, List.of(peer, rank));
      }
    } else {
      failureTracker.breakOff(peer, what);
    }
  }

  /// Gives a rank up that cannot be trusted or does not move: it counts as lost, here and to all.
  ///
  /// @param why in words, of that rank: "it sent ..."
  public void drop(int peer, String why) {
    lose(peer, "its connection was closed from here, because " + why);
    Endpoint untrusted = endpoints[peer];
    if (untrusted != null) {
      untrusted.close(); // whether it has heard why or not
    }
  }

  /// Gives a rank up.
  void lose(int peer, String why) {
    failureTracker.lose(new MeshFrame.Lost(peer, rank, why, ""));
  }

  /// Gives up this rank itself.
  void cutOff(String why) {
    failureTracker.cutOff(why);
  }

  // --- the agent

  @Override
  public String role() {
    return "weft-progress-" + rank + (thread == 0 ? "" : "-" + thread);
  }

  /// What a turn has posted leaves in it: a caller whose operation is done turns no more, and its
  /// peers would wait for what it said last. What users have just submitted leaves before the
  /// transport is asked what has come, which may take a system call.
  @Override
  public int work(long nowNanos) {
    now = nowNanos;
    int taken = services.takeCommands(nowNanos);
    if (taken > 0) {
      transport.flush();
    }
    int done = taken + turn(nowNanos) + services.work(nowNanos);
    transport.flush();
    return done;
  }

  @Override
  public void await(long maxNanos) {
    transport.await(maxNanos);
  }

  @Override
  public void wake() {
    transport.wake();
  }

  @Override
  public boolean busy() {
    return services.busy();
  }

  @Override
  public boolean hasCommands() {
    return services.hasCommands() || (threads.size() > 1 && !news.isEmpty());
  }

  /// Ends at once; the peers are told why, as far as there is room.
  @Override
  public void crash(Throwable cause) {
    if (!closed) {
      closed = true;
      failureTracker.fallSilent();
      services.onCrash(cause);
      try {
        if (topology != null) {
          resign("its progress thread has died of " + cause);
          tellThreads(
              new MeshFrame.Lost(rank, rank, "ends: " + role() + " has died of " + cause, ""));
        }
      } finally {
        end();
      }
    }
  }

  private void end() {
    closing = false;
    try {
      transport.close();
    } finally {
      services.onClosing();
    }
  }

  /// Says good-bye to all and waits, at most two seconds, until all have said it too, so that
  /// nobody loses what is still on its way; then closes the transport. Those who are silent, as
  /// others behind a broken network that has cost this rank the job, are not waited for. Where this
  /// rank has several meshes it only begins, and `endAll` does the rest for all of them at once.
  @Override
  public void close() {
    if (closed) {
      return;
    }
    services.onClose();
    closed = true;
    failureTracker.fallSilent();
    closing = true;
    if (topology != null) {
      gracefulClose = new GracefulClose(this, failureTracker, services, liveness, endpoints.length);
    }
    if (threads.size() == 1) {
      endAll(threads);
    }
  }

  /// Ends those of these meshes that were closed, all on the calling thread.
  static void endAll(List<Mesh> meshes) {
    List<Mesh> all = meshes.stream().filter(mesh -> mesh.closing).toList();
    if (all.isEmpty()) {
      return; // each has crashed, and ends itself
    }
    Ticker ticker = all.getFirst().ticker;
    long start = ticker.nanos();
    try {
      List<Mesh> open = all.stream().filter(Mesh::isTalking).toList();
      while (!open.isEmpty() && ticker.nanos() - start < GRACEFUL_CLOSE_NANOS) {
        int done = 0;
        for (Mesh mesh : open) {
          done += mesh.turnClosing(ticker.nanos());
        }
        if (done == 0) {
          open.getFirst().transport.await(1_000_000);
        }
        open = open.stream().filter(Mesh::isTalking).toList();
      }
    } finally {
      all.forEach(Mesh::end);
    }
  }

  private boolean isTalking() {
    return gracefulClose != null && gracefulClose.open();
  }

  private int turnClosing(long nowNanos) {
    now = nowNanos;
    return transport.poll(now) + services.work(now);
  }
}
