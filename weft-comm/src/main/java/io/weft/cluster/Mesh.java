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
import io.weft.transport.limit.ClampedDuration;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The endpoints to the other ranks over one transport, and the agent that polls them. All
/// connections are made at the start, when rank r connects to the ranks below it and accepts those
/// above, or each is made on first use. The first byte of a message identifies its service; the
/// immediate value of a write is a token of its receiver. When one rank has lost a peer, the peer
/// is lost for all ranks (docs/protocol/mesh.md). Confined to the progress thread once `connect`
/// has returned.
public final class Mesh implements Agent, FrameSink {

  private static final long GRACEFUL_CLOSE_NANOS = ClampedDuration.nanos(Duration.ofSeconds(2));

  private final int rank;
  private final Ticker ticker;
  private final MeshServices services;
  private final TokenTable tokens = new TokenTable();
  private final Transport transport;
  private final PolledClock attention = new PolledClock();
  private final List<Endpoint> early = new ArrayList<>();

  /// Losses reported by other progress threads of this rank, at most one for each rank and thread.
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

  /// True while this rank joins a running job; `late` stays true afterwards.
  private boolean entering;

  private boolean late;
  private @Nullable GracefulClose gracefulClose;
  private boolean closing;
  private volatile boolean closed;

  /// Opens the transport with this mesh as its sink.
  ///
  /// @param services the services that use the mesh, each with a distinct id
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

  /// Makes this mesh one of the meshes of several progress threads of this rank. Must be called
  /// before `connect`.
  void isOneOf(List<Mesh> all, int number) {
    threads = all;
    thread = number;
  }

  int thread() {
    return thread;
  }

  /// The transport, with its own threading rules.
  public Transport transport() {
    return transport;
  }

  /// The members of the job. Throws `IllegalStateException` before `connect`.
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

  /// The tokens to which peers reply. Progress thread.
  public TokenTable tokens() {
    return tokens;
  }

  /// Returns the endpoint to another rank that is not gone. Without a connection, the call starts
  /// to connect and returns an endpoint without room, so the caller must ask again for each
  /// message. A rank with which no connection can be made before the start deadline is lost.
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

  /// Number of endpoints made to other ranks. Any thread.
  public int connections() {
    return peers.connected();
  }

  /// Returns whether the rank has left or is lost.
  ///
  /// Hot path.
  public boolean isGone(int peer) {
    return peers.at(peer).isGone();
  }

  /// Returns whether any rank has left in an orderly way.
  public boolean hasAnyLeft() {
    return failureTracker.hasAnyLeft();
  }

  /// Returns whether the rank has left in an orderly way.
  public boolean hasLeft(int peer) {
    return peers.at(peer).hasLeft();
  }

  /// Returns whether connections broke for a reason that is not known yet but soon will be.
  public boolean isPuzzled() {
    return failureTracker.isPuzzled();
  }

  /// The progress thread's clock.
  public long nanos() {
    return ticker.nanos();
  }

  /// Time of the rank's last sign of life, in nanoseconds of the progress thread's clock.
  public long lastSeen(int peer) {
    return liveness.lastSeen(peer);
  }

  /// Returns whether no data has moved between this rank and the peer, in either direction, for at
  /// least two heartbeats.
  public boolean isStuck(int peer) {
    return liveness.isStuck(peer);
  }

  /// The clock that counts the time in which this rank polled, and its standstills.
  public PolledClock attention() {
    return attention;
  }

  long now() {
    return now;
  }

  /// The endpoint to a connected rank, or null.
  @Nullable Endpoint live(int peer) {
    return peers.at(peer).live();
  }

  // --- start

  /// Starts with these members, on the calling thread, before the progress thread starts. With
  /// `Connections.ALL`, the mesh is connected with all of them when the call returns. Throws
  /// `CommException.Setup` naming the ranks that did not arrive, or the one that was lost while
  /// this rank joined.
  ///
  /// @param deadline the limit for all connections, or for each connection that is made later
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

  /// Joins a running job as the last of these members. The mesh is connected with all remaining
  /// members when the call returns. Members without addresses are gone. Throws
  /// `CommException.Setup` naming the ranks that did not answer.
  public void enter(Topology members, Duration deadline) {
    late = true;
    entering = true;
    begin(members, deadline);
    new LateJoining(this, peers, connector, failureTracker, deadline).run(ticker);
    connector.limit(deadline);
    entering = false;
  }

  /// Returns whether this rank joined while the job ran, so that it was not in an epoch at first.
  public boolean isLate() {
    return late;
  }

  /// Adds a rank to the job. Connections with it are made when either side first sends. Progress
  /// thread. Throws `IllegalArgumentException` if its number is not the next one.
  public void append(Member member) {
    peers.append(member);
    services.onPeerAdded(member.rank());
  }

  /// Notes that this rank and the peer can send to each other from now on.
  void connected(Peer peer, Endpoint endpoint) {
    peer.connected(endpoint);
    peers.countConnected();
    liveness.begin(peer.rank(), now);
    failureTracker.met();
  }

  /// Runs one duty cycle while the connections are made.
  int poll(long nowNanos) {
    now = nowNanos;
    long standstill = attention.update(nowNanos);
    if (standstill > 0) {
      liveness.stoodStill(standstill);
    }
    int done = transport.poll(nowNanos) + failureTracker.poll();
    connector.poll();
    admissions.poll();
    liveness.poll(nowNanos);
    return threads.size() == 1 ? done : done + hearNews();
  }

  /// Runs one duty cycle of this mesh and of this rank's connected meshes, which their peers need.
  int pollJoining(long nowNanos) {
    int done = 0;
    for (int other = 0; other < thread; other++) {
      done += threads.get(other).poll(nowNanos);
    }
    return done + poll(nowNanos);
  }

  private int hearNews() {
    int heard = 0;
    for (MeshFrame.Lost lost = news.poll(); lost != null; lost = news.poll()) {
      failureTracker.toldHere(lost);
      heard++;
    }
    return heard;
  }

  void tellThreads(MeshFrame.Lost lost) {
    for (Mesh other : threads) {
      if (other != this && !other.closed) {
        other.news.add(lost);
        other.wake();
      }
    }
  }

  Joining.@Nullable Obstacle obstacle() {
    return obstacle;
  }

  /// Returns whether all connections have been made and none has broken for a reason that another
  /// rank may still report.
  boolean isConnected() {
    return peers.connected() == peers.size() - 1 && !isPuzzled();
  }

  /// Returns whether any mesh of this rank is connecting.
  boolean isJoining() {
    for (Mesh mesh : threads) {
      if (mesh.joining || mesh.entering) {
        return true;
      }
    }
    return false;
  }

  /// Returns whether any mesh of this rank is joining a running job.
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

  void resign(String why) {
    failureTracker.resign(why);
  }

  /// Notes that this rank cannot join. Only the first reason counts.
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
        drop(peer, "it sent a message to an unknown service");
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

  /// Gives up a rank that violates the protocol or makes no progress. It counts as lost, on this
  /// rank and on all others.
  ///
  /// @param why the reason, with that rank as the subject: "it sent ..."
  public void drop(int peer, String why) {
    lose(peer, "its connection was closed because " + why);
    Endpoint untrusted = peers.at(peer).endpoint();
    if (untrusted != null) {
      untrusted.close(); // even if it has not read the reason
    }
  }

  void lose(int peer, String why) {
    failureTracker.lose(new MeshFrame.Lost(peer, rank, why, ""));
  }

  void cutOff(String why) {
    failureTracker.cutOff(why);
  }

  // --- the agent

  @Override
  public String role() {
    return "weft-progress-" + rank + (thread == 0 ? "" : "-" + thread);
  }

  /// Flushes all messages of a duty cycle within it, because a caller whose operation is done runs
  /// no further duty cycle, and its peers would wait for its last message. Newly submitted work is
  /// sent before the poll of the transport, which may take a system call.
  @Override
  public int work(long nowNanos) {
    now = nowNanos;
    int taken = services.takeCommands(nowNanos);
    if (taken > 0) {
      transport.flush();
    }
    int done = taken + poll(nowNanos) + services.work(nowNanos);
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

  /// Ends at once. The peers that have room are told the reason.
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

  /// Sends a goodbye to all ranks and waits, at most two seconds, for theirs, so that no data in
  /// flight is lost; then closes the transport. It does not wait for silent ranks, such as those
  /// behind a network failure that has excluded this rank. On a rank with several meshes, the call
  /// only starts the close, and `endAll` completes it for all of them at once.
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

  /// Ends the closed ones among these meshes, on the calling thread.
  static void endAll(List<Mesh> meshes) {
    List<Mesh> all = meshes.stream().filter(mesh -> mesh.closing).toList();
    if (all.isEmpty()) {
      return; // each has crashed and ended itself
    }
    Ticker ticker = all.getFirst().ticker;
    long start = ticker.nanos();
    try {
      List<Mesh> open = all.stream().filter(Mesh::isTalking).toList();
      while (!open.isEmpty() && ticker.nanos() - start < GRACEFUL_CLOSE_NANOS) {
        int done = 0;
        for (Mesh mesh : open) {
          done += mesh.pollClosing(ticker.nanos());
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

  private int pollClosing(long nowNanos) {
    now = nowNanos;
    admissions.leave();
    return transport.poll(now) + services.work(now);
  }
}
