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
import org.jspecify.annotations.Nullable;

/// Endpoints to the other ranks, over one transport; the agent that polls them. Either all are made
/// at the beginning, where rank r connects to the ranks below it and is found by those above, or
/// each when it is first used. The service spoken to stands in the first byte of a message; the
/// immediate value of a write is a token of its receiver. A rank that one rank has lost is lost to
/// all (docs/protocol/mesh.md). Confined to the progress thread once `connect` has returned.
public final class Mesh implements Agent, FrameSink {

  private static final long GRACEFUL_CLOSE_NANOS = Span.nanos(Duration.ofSeconds(2));

  private final int rank;
  private final Ticker ticker;
  private final MeshServices services;
  private final TokenTable tokens = new TokenTable();
  private final Transport transport;
  private final PolledClock attention = new PolledClock();
  private final List<Endpoint> early = new ArrayList<>();

  /// From other progress threads of this rank: a rank that is lost there. At most one for each rank
  /// and thread.
  private final ConcurrentLinkedQueue<MeshFrame.Lost> news = new ConcurrentLinkedQueue<>();

  private List<Mesh> threads = List.of(this);
  private int thread;
  private final PeerTable peers;
  private final Connector connector;
  private final LivenessMonitor liveness;
  private final FailureTracker failureTracker;
  private final Admissions admissions;
  private Joining.@Nullable Obstacle obstacle;
  private long now;
  private boolean begun;
  private boolean joining;

  /// This rank joins a job that runs; it did.
  private boolean entering;

  private boolean late;
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
    this.services = new MeshServices(services);
    this.peers = new PeerTable(rank);
    this.connector = new Connector(this, peers);
    this.liveness = new LivenessMonitor(this, peers, heartbeat, attention);
    this.failureTracker = new FailureTracker(this, this.services, liveness, peers);
    this.admissions = new Admissions(this, peers, failureTracker, connector);
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
    Topology known = peers.topology();
    if (known.size() == 0) {
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

  /// The endpoint to a rank that is neither gone nor this one. Where none was made yet, that begins
  /// now, and what is returned has no room: ask again for each message. A rank with which no
  /// connection can be made before the start deadline is lost.
  ///
  /// Hot path.
  public Endpoint endpoint(int peer) {
    Peer to = peers.at(peer);
    Endpoint endpoint = to.endpoint();
    return endpoint == null ? connect(to) : endpoint;
  }

  private Endpoint connect(Peer to) {
    if (joining || to.isGone() || to.rank() == rank) {
      throw new IllegalStateException("no endpoint to " + topology().describe(to.rank()));
    }
    return connector.connect(to);
  }

  /// How many endpoints to other ranks were made so far. Any thread.
  public int connections() {
    return peers.connected();
  }

  /// Whether the rank has left or is lost.
  ///
  /// Hot path.
  public boolean isGone(int peer) {
    return peers.at(peer).isGone();
  }

  /// Whether any rank has left in order.
  public boolean hasAnyLeft() {
    return failureTracker.hasAnyLeft();
  }

  /// Whether the rank has left in order.
  public boolean hasLeft(int peer) {
    return peers.at(peer).hasLeft();
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
    return peers.at(peer).live();
  }

  // --- the beginning

  /// Begins with these members, on the calling thread, before the progress thread starts. With
  /// `Connections.ALL` it is connected with all of them when it returns, or throws
  /// `CommException.Setup` naming the ranks that did not come, or the one that was lost meanwhile.
  ///
  /// @param deadline for all connections, or for each that is made later
  public void connect(Topology members, Connections connections, Duration deadline) {
    joining = connections == Connections.ALL;
    begin(members, deadline);
    if (joining) {
      new Joining(this, members, ticker, deadline).run();
      joining = false;
    }
  }

  private void begin(Topology members, Duration deadline) {
    peers.begin(members);
    begun = true;
    connector.limit(deadline);
    admissions.limit(deadline);
    now = ticker.nanos();
    services.onStart(this);
    early.forEach(this::accept);
    early.clear();
  }

  /// Joins a job that runs, as the last of these members; otherwise as `connect`. It is connected
  /// with all that are left when it returns, or throws `CommException.Setup` naming those that did
  /// not answer. Members without addresses are gone.
  public void enter(Topology members, Duration deadline) {
    late = true;
    entering = true;
    begin(members, deadline);
    new LateJoining(this, peers, connector, failureTracker, deadline).run(ticker);
    connector.limit(deadline);
    entering = false;
  }

  /// Whether this rank joined while the job ran, so that it was in no epoch at first.
  public boolean isLate() {
    return late;
  }

  /// Adds a rank to the job; connections with it are made when something is first to be sent,
  /// whichever way. Progress thread. Throws `IllegalArgumentException` where its number is not the
  /// next one.
  public void append(Member member) {
    peers.append(member);
    services.onPeerAdded(member.rank());
  }

  /// A rank and this one can send to each other from now on.
  void connected(Peer peer, Endpoint endpoint) {
    peer.connected(endpoint);
    peers.countConnected();
    liveness.begin(peer.rank(), now);
    failureTracker.met();
  }

  /// One turn while the connections are made.
  int turn(long nowNanos) {
    now = nowNanos;
    long standstill = attention.turn(nowNanos);
    if (standstill > 0) {
      liveness.stoodStill(standstill);
    }
    int done = transport.poll(nowNanos) + failureTracker.turn();
    connector.turn();
    admissions.turn();
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
    return peers.connected() == peers.size() - 1 && !isPuzzled();
  }

  /// Whether any mesh of this rank is being connected.
  boolean isJoining() {
    for (Mesh mesh : threads) {
      if (mesh.joining || mesh.entering) {
        return true;
      }
    }
    return false;
  }

  /// Whether any mesh of this rank is on its way into a job that runs.
  boolean isEntering() {
    for (Mesh mesh : threads) {
      if (mesh.entering) {
        return true;
      }
    }
    return false;
  }

  Admissions admissions() {
    return admissions;
  }

  List<Integer> missing() {
    return peers.missing();
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
    if (begun) {
      accept(endpoint);
    } else {
      early.add(endpoint);
    }
  }

  private void accept(Endpoint endpoint) {
    int node = endpoint.node();
    if (node >= peers.size()) {
      admissions.onConnect(endpoint);
    } else if (!peers.isPeer(node) || peers.at(node).endpoint() != null) {
      endpoint.close();
    } else if (joining) {
      connected(peers.at(node), endpoint);
    } else if (peers.at(node).isGone()) {
      endpoint.close();
    } else {
      connector.onConnect(endpoint);
    }
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    int peer = from.node();
    if (!peers.isPeer(peer)) {
      admissions.onMessage(from, message);
      return;
    }
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
      case MeshFrame.Connected _ when connector.onConnected(from) -> {}
      case MeshFrame.Join join when admissions.onJoin(from, join) -> {}
      case MeshFrame.Welcome welcome when late -> welcomed(from, welcome);
      case MeshFrame.Lost lost when lost.isWithin(peers.size() + Admissions.MOST_AHEAD) -> {
        if (lost.rank() == rank) {
          failureTracker.exclude(lost.witness(), lost.why());
        } else {
          failureTracker.told(lost);
        }
      }
      case null, default -> drop(peer, "it sent a message of the mesh that cannot be read");
    }
  }

  private void welcomed(Endpoint from, MeshFrame.Welcome welcome) {
    boolean unused = connector.onConnected(from);
    for (int peer = 0; peer < rank; peer++) {
      if (welcome.gone().get(peer)) {
        failureTracker.isAbsent(peer);
      }
    }
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {
    int peer = from.node();
    if (!peers.isPeer(peer)) {
      admissions.refuse(from);
      return;
    }
    if (failureTracker.isCondemned(peer)) {
      return;
    }
    TokenOwner owner = tokens.find(immediate);
    if (owner == null ? !tokens.isPast(immediate) : !owner.onNotify(peer)) {
      drop(peer, "it wrote for an operation in which it has no part");
    }
  }

  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    int peer = from.node();
    if (admissions.onFailure(from)) {
      return;
    }
    String what = Objects.requireNonNullElse(cause.getMessage(), cause.toString());
    if (!peers.isPeer(peer) || !from.equals(peers.at(peer).endpoint())) {
      early.remove(from);
      if (peers.isPeer(peer) && connector.onFailure(from, what)) {
        return;
      }
      if (joining && peers.isPeer(peer) && peers.at(peer).endpoint() == null) {
        failureTracker.unreached(peer, what);
      } else if (!entering) {
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
    Endpoint untrusted = peers.at(peer).endpoint();
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
        if (begun) {
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
    if (begun) {
      gracefulClose = new GracefulClose(this, failureTracker, services, liveness, peers.size());
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
    admissions.leave();
    return transport.poll(now) + services.work(now);
  }
}
