// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.testkit.sim.network.Journal.What;
import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.TransportException;
import io.weft.transport.region.LocalRegion;
import io.weft.transport.secure.Claim;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One end of a connection. It is small, because a job of 1,024 ranks has a million of them: rarely
/// needed parts are created on demand.
final class SimEndpoint implements Endpoint {

  static final int UNKNOWN = -1;
  private static final long NEVER = Long.MAX_VALUE;

  private enum State {
    SHAKING_HANDS,
    OPEN,
    CLOSED
  }

  private final SimTransport transport;
  private int node;
  private State state = State.SHAKING_HANDS;
  private @Nullable SimHandshake handshake;
  private @Nullable SimEndpoint peer;
  private @Nullable List<SimTransfer> posted;
  private @Nullable ArrayDeque<SimPacket> held;
  private long peerIncarnation;
  private int inFlight;
  private int bytesInFlight;
  private boolean wantsRoom;
  private long lastHeadNanos;
  private long cutNanos = NEVER;
  private long received;
  private long sent;

  SimEndpoint(SimTransport transport, int node) {
    this.transport = transport;
    this.node = node;
  }

  SimTransport transport() {
    return transport;
  }

  @Nullable SimEndpoint peer() {
    return peer;
  }

  @Override
  public int node() {
    return node;
  }

  boolean isClosed() {
    return state == State.CLOSED;
  }

  boolean isOpen() {
    return state == State.OPEN;
  }

  @Nullable SimHandshake handshake() {
    return handshake;
  }

  /// Returns "rank 3 at sim:h0:7", for messages.
  String who() {
    String name = node == UNKNOWN ? "a stranger" : "rank " + node;
    if (handshake instanceof SimHandshake.Connect connect) {
      return name + " at " + SimProvider.SCHEME + ":" + connect.location();
    }
    SimEndpoint other = peer;
    return other == null ? name : name + " at " + other.transport.address();
  }

  TransportException exception(String why) {
    return new TransportException.EndpointLost(who() + ": " + why, null);
  }

  // --- the handshake

  void begin(SimHandshake begun) {
    handshake = begun;
  }

  /// Connects this end with the other, after the listener has accepted.
  void meet(SimEndpoint other) {
    peer = other;
  }

  /// Disconnects this end after a failed attempt; another attempt may follow.
  void hangUp() {
    peer = null;
  }

  void handshake(byte[] bytes) {
    SimHandshake under = handshake;
    if (under != null) {
      under.received(bytes);
    }
  }

  /// Opens this end, after both sides have been authenticated.
  void open(Claim claim) {
    node = claim.node();
    peerIncarnation = claim.incarnation();
    handshake = null;
    state = State.OPEN;
    record(What.CONNECTED, 0);
    transport.opened(this);
  }

  /// Connects this open end with another process than the authenticated one, which then also
  /// believes that it is authenticated. Only a network with `Tamper` calls it.
  void goOnWith(SimEndpoint newcomer) {
    peer = newcomer;
    peerIncarnation = newcomer.transport.table().incarnation();
    newcomer.peer = this;
    newcomer.peerIncarnation = transport.table().incarnation();
    newcomer.handshake = null;
    newcomer.state = State.OPEN;
    newcomer.transport.arrive(() -> newcomer.transport.opened(newcomer));
  }

  /// Drops a caller that is not authenticated.
  void drop() {
    record(What.REFUSED, 0);
    end();
  }

  /// Closes this end and reports the reason to the sink.
  void fail(String why) {
    TransportException cause = exception(why);
    record(What.REFUSED, 0);
    end();
    transport.failed(this, cause);
  }

  // --- the verbs

  @Override
  public PostResult trySend(MemorySegment message) {
    long bytes = message.byteSize();
    int most = transport.network().limits().messageBytes();
    if (bytes > most) {
      throw new IllegalArgumentException(
          "message of "
              + bytes
              + " bytes to rank "
              + node
              + "; at most "
              + most
              + " fit, write larger ones to the peer's memory");
    }
    PostResult room = room(SimPacket.HEADER_BYTES + bytes);
    if (room == PostResult.POSTED) {
      SimPacket parcel =
          new SimPacket(SimPacket.PacketKind.MESSAGE, this, message.toArray(JAVA_BYTE));
      take(parcel.wireBytes());
      transport.network().send(parcel);
    }
    return room;
  }

  @Override
  public PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done) {
    SimTransfer.Terms terms = terms(transport.table().own(from), from, into, done);
    PostResult room = room(0);
    if (room == PostResult.POSTED) {
      post(new WriteTransfer(this, terms, immediate), into);
    }
    return room;
  }

  @Override
  public PostResult tryRead(Slice into, RemoteSlice from, Completion done) {
    SimTransfer.Terms terms = terms(transport.table().ownTarget(into), into, from, done);
    PostResult room = room(0);
    if (room == PostResult.POSTED) {
      post(new ReadTransfer(this, terms), from);
    }
    return room;
  }

  private SimTransfer.Terms terms(
      LocalRegion region, Slice own, RemoteSlice remote, Completion done) {
    if (own.bytes() != remote.bytes()) {
      throw new IllegalArgumentException(
          "slice of " + own.bytes() + " bytes, remote slice of " + remote.bytes() + " bytes");
    }
    region.post(); // throws if it is closed
    region.settle();
    return new SimTransfer.Terms(
        region, own.offset(), own.bytes(), remote.region().key(), remote.offset(), done);
  }

  private void post(SimTransfer transfer, RemoteSlice remote) {
    if (posted == null) {
      posted = new ArrayList<>(2);
    }
    posted.add(transfer);
    boolean old = remote.region().incarnation() != peerIncarnation;
    if (old && !transport.network().tamper().takesOldForNew()) {
      transport.arrive(
          () ->
              transfer.complete(
                  transfer.refused(
                      "the region is of another incarnation of its transport;"
                          + " ask the peer for its present regions")));
      return;
    }
    take(0);
    transport.network().send(transfer);
    if (transfer instanceof WriteTransfer write) {
      write.departs();
    }
  }

  private PostResult room(long bytes) {
    if (state != State.OPEN) {
      return state == State.CLOSED ? PostResult.CLOSED : PostResult.BACK_PRESSURED;
    }
    Limits limits = transport.network().limits();
    if (inFlight < limits.operations()
        && (bytesInFlight == 0 || bytesInFlight + bytes <= limits.bytes())) {
      return PostResult.POSTED;
    }
    wantsRoom = true;
    return PostResult.BACK_PRESSURED;
  }

  void take(long bytes) {
    inFlight++;
    bytesInFlight += (int) bytes;
  }

  /// Returns credit, because the peer has taken bytes, unless a fault delays it.
  void freed(long bytes) {
    transport.network().free(this, bytes);
  }

  void free(long bytes) {
    inFlight--;
    bytesInFlight -= (int) bytes;
    if (wantsRoom) {
      wantsRoom = false;
      transport.node().stir();
    }
  }

  void forget(SimTransfer transfer) {
    if (posted != null) {
      posted.remove(transfer);
    }
  }

  @Override
  public long bytesReceived() {
    return received;
  }

  @Override
  public long bytesSent() {
    return sent;
  }

  void countReceived(long bytes) {
    received += bytes;
  }

  void countSent(long bytes) {
    sent += bytes;
    transport.countSent(bytes);
  }

  // --- the path

  /// Returns the moment at which the next packet reaches the peer, never before an earlier one.
  long inOrder(long headNanos) {
    lastHeadNanos = Math.max(lastHeadNanos, headNanos);
    return lastHeadNanos;
  }

  /// Returns the moment of the cut; bytes that had not been sent by then never arrive.
  long cutNanos() {
    return cutNanos;
  }

  /// Returns the packets that a wall has stopped, in order; null if there are none.
  @Nullable ArrayDeque<SimPacket> held() {
    return held;
  }

  void hold(@Nullable ArrayDeque<SimPacket> parcels) {
    held = parcels;
  }

  /// Cuts the connection; its ends are not notified yet.
  void cut(long nowNanos) {
    if (cutNanos == NEVER) {
      cutNanos = nowNanos;
      if (posted != null) {
        posted.forEach(transfer -> transfer.tear(nowNanos));
      }
    }
  }

  // --- the end

  /// Handles the loss of the connection.
  void lost(String why) {
    if (state == State.CLOSED) {
      return;
    }
    SimHandshake under = handshake;
    if (under != null) {
      under.ended(why);
      return;
    }
    TransportException cause = exception(why);
    record(What.LOST, 0);
    state = State.CLOSED;
    failPosted(cause);
    transport.failed(this, cause);
  }

  /// Ends this end without notification, because its process has died.
  void die() {
    state = State.CLOSED;
    handshake = null;
  }

  @Override
  public void close() {
    if (state != State.CLOSED) {
      record(What.CLOSED, 0);
      end();
    }
  }

  private void end() {
    state = State.CLOSED;
    handshake = null;
    if (peer != null && !peer.isClosed() && cutNanos == NEVER) {
      transport.network().send(SimPacket.empty(SimPacket.PacketKind.END, this));
    }
    if (posted != null) {
      failPosted(exception("it was closed from here"));
    }
  }

  private void failPosted(TransportException cause) {
    List<SimTransfer> open = posted;
    posted = null;
    if (open != null) {
      open.forEach(transfer -> transfer.complete(cause));
    }
  }

  void record(What what, long bytes) {
    transport.network().journal().record(what, transport.node(), node, bytes, null);
  }
}
