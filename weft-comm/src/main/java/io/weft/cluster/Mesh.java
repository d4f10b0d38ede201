// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.CommException;
import io.weft.agent.Agent;
import io.weft.agent.Ticker;
import io.weft.cluster.MeshService.PeerGone;
import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.PostResult;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// One endpoint to every other rank of an epoch, over one transport; the agent that polls it. Rank
/// r connects to the ranks below it and is found by those above. The service spoken to stands in
/// the first byte of a message and in the top two bits of an immediate value. Confined to the
/// lane's thread once `connect` has returned.
public final class Mesh implements Agent, FrameSink {

  private static final int GOODBYE = 0xff;
  private static final long FAREWELL_NANOS = Duration.ofSeconds(2).toNanos();

  private final int rank;
  private final Ticker ticker;
  private final Services services;
  private final Transport transport;
  private final MemorySegment goodbye = Arena.ofAuto().allocate(8);
  private @Nullable Topology topology;
  private @Nullable Endpoint[] endpoints = new Endpoint[0];
  private final List<Endpoint> early = new ArrayList<>();
  private boolean[] gone = new boolean[0];
  private long[] lastSeen = new long[0];
  private int connected;
  private @Nullable String refusal;
  private long now;
  private boolean closed;

  /// Opens the transport with this mesh as its sink.
  ///
  /// @param services what will speak over it, each with a number of its own
  /// @param open opens a transport for a sink
  public Mesh(
      int rank, Ticker ticker, List<MeshService> services, Function<FrameSink, Transport> open) {
    this.rank = rank;
    this.ticker = ticker;
    this.services = new Services(services);
    this.goodbye.set(ValueLayout.JAVA_BYTE, 0, (byte) GOODBYE);
    this.transport = open.apply(this);
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
    return gone[peer];
  }

  /// When the rank was last heard of, in nanoseconds of the lane's clock.
  public long lastSeen(int peer) {
    return lastSeen[peer];
  }

  /// Connects to all ranks, on the calling thread, before the lane starts. Throws
  /// `CommException.Setup` naming the ranks that did not come.
  public void connect(Topology members, Duration deadline) {
    topology = members;
    endpoints = new Endpoint[members.size()];
    gone = new boolean[members.size()];
    lastSeen = new long[members.size()];
    early.forEach(this::accept);
    List<Endpoint> connecting = new ArrayList<>();
    for (int peer = 0; peer < rank; peer++) {
      connecting.add(transport.connect(addressOf(members.members().get(peer)), peer));
    }
    long start = ticker.nanos();
    while (connected < members.size() - 1) {
      now = ticker.nanos();
      if (refusal != null || now - start > deadline.toNanos()) {
        connecting.forEach(Endpoint::close);
        throw new CommException.Setup(notConnected(members, deadline), null);
      }
      if (transport.poll(now) == 0) {
        transport.await(1_000_000);
      }
    }
    now = ticker.nanos();
    java.util.Arrays.fill(lastSeen, now);
    services.onStart(this);
  }

  private String notConnected(Topology members, Duration deadline) {
    String who = String.join(", ", missing().stream().map(members::describe).toList());
    return members.describe(rank)
        + " has no connection to "
        + who
        + (refusal == null ? " after " + deadline.toSeconds() + " s" : ": " + refusal)
        + "; check that these ranks run and that their addresses can be reached from here, or raise"
        + " --start-deadline";
  }

  private Address addressOf(Member member) {
    String scheme = transport.address().scheme();
    return member.addresses().stream()
        .filter(a -> a.scheme().equals(scheme))
        .findFirst()
        .orElseThrow(
            () ->
                new CommException.Setup(
                    "rank "
                        + member.rank()
                        + " on "
                        + member.host()
                        + " offers "
                        + member.addresses()
                        + ", this rank speaks "
                        + scheme
                        + "; give all ranks the same --transport",
                    null));
  }

  private List<Integer> missing() {
    List<Integer> missing = new ArrayList<>();
    for (int peer = 0; peer < endpoints.length; peer++) {
      if (peer != rank && endpoints[peer] == null) {
        missing.add(peer);
      }
    }
    return missing;
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
    }
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    int peer = from.node();
    lastSeen[peer] = now;
    if (message.byteSize() > 0 && (message.get(ValueLayout.JAVA_BYTE, 0) & 0xff) == GOODBYE) {
      goneBy(peer, PeerGone.LEFT, new TransportException.EndpointLost("it left the job", null));
    } else if (!services.onMessage(peer, message)) {
      drop(peer);
    }
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {
    lastSeen[from.node()] = now;
    if (!services.onNotify(from.node(), immediate)) {
      drop(from.node());
    }
  }

  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    int peer = from.node();
    if (topology == null || peer < 0 || peer >= endpoints.length || endpoints[peer] == null) {
      refusal = cause.getMessage();
    } else if (endpoints[peer] == from) {
      goneBy(peer, PeerGone.LOST, cause);
    }
  }

  /// Closes the endpoint to a rank that cannot be trusted or does not move; it counts as lost.
  public void drop(int peer) {
    Endpoint endpoint = endpoints[peer];
    if (endpoint != null && !gone[peer]) {
      endpoint.close();
      goneBy(
          peer,
          PeerGone.LOST,
          new TransportException.EndpointLost("its connection was closed from here", null));
    }
  }

  private void goneBy(int peer, PeerGone how, TransportException cause) {
    if (!gone[peer]) {
      gone[peer] = true;
      if (!closed) {
        services.onPeerGone(peer, how, cause);
      }
    }
  }

  // --- the agent

  @Override
  public String role() {
    return "weft-lane-" + rank;
  }

  @Override
  public int work(long nowNanos) {
    now = nowNanos;
    int done = transport.poll(nowNanos);
    return done + services.work(nowNanos);
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
    return services.hasCommands();
  }

  /// Ends at once: the peers see the connections break.
  @Override
  public void crash(Throwable cause) {
    if (!closed) {
      closed = true;
      services.onCrash(cause);
      transport.close();
      services.onClosing();
    }
  }

  /// Says good-bye to all and waits, at most two seconds, until all have said it too, so that
  /// nobody loses what is still on its way; then closes the transport.
  @Override
  public void close() {
    if (closed) {
      return;
    }
    services.onClose();
    closed = true;
    boolean[] told = new boolean[endpoints.length];
    long start = ticker.nanos();
    while (topology != null && farewellsOpen(told) && ticker.nanos() - start < FAREWELL_NANOS) {
      now = ticker.nanos();
      if (transport.poll(now) + services.work(now) == 0) {
        transport.await(1_000_000);
      }
    }
    services.onClosing();
    transport.close();
  }

  private boolean farewellsOpen(boolean[] told) {
    boolean open = false;
    for (int peer = 0; peer < endpoints.length; peer++) {
      Endpoint endpoint = endpoints[peer];
      if (endpoint == null) {
        continue;
      }
      if (!told[peer]) {
        told[peer] = endpoint.trySend(goodbye) != PostResult.BACK_PRESSURED;
        open = true;
      }
      open |= !gone[peer];
    }
    return open;
  }
}
