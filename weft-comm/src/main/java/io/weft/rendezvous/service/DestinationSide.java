// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.cluster.TokenTable;
import io.weft.comm.CommException;
import io.weft.observer.OperationStage;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.RendezvousOptions;
import io.weft.rendezvous.TransferProtocol;
import io.weft.rendezvous.frame.TensorSpec;
import io.weft.rendezvous.route.ReceiveBuffers;
import io.weft.rendezvous.route.Route;
import io.weft.rendezvous.route.RouteBuffer;
import io.weft.rendezvous.service.PendingReceive.Stand;
import io.weft.transport.Capabilities;
import io.weft.transport.RemoteRegion;
import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The consumer side of a rank's rendezvous. It requests tensors, provides memory for them, and
/// delivers them. Confined to the progress thread.
final class DestinationSide {

  private final MeshRendezvous owner;
  private final TokenTable tokens;
  private final ReceiveBuffers receiveBuffers;
  private final TransferProtocol protocol;
  private final int eagerBytes;
  private final TransferWindows reads;

  /// The receives that wait for memory.
  private final List<PendingReceive> stalled = new ArrayList<>();

  private int waiting;
  private int draining;
  private long earliest = Long.MAX_VALUE;

  DestinationSide(
      MeshRendezvous owner,
      TokenTable tokens,
      ReceiveBuffers receiveBuffers,
      RendezvousOptions options,
      Capabilities transport) {
    this.owner = owner;
    this.tokens = tokens;
    this.receiveBuffers = receiveBuffers;
    this.protocol = options.protocol();
    this.eagerBytes = SourceSide.eagerBytes(options, transport);
    this.reads = new TransferWindows(transport.maxTransferBytes(), this::tryRead);
  }

  int waiting() {
    return waiting;
  }

  int draining() {
    return draining;
  }

  boolean asksForWrites() {
    return protocol == TransferProtocol.WRITE;
  }

  RemoteRegion export(RouteBuffer receiveBuffer) {
    return receiveBuffers.export(receiveBuffer);
  }

  // --- requests

  void enter(PendingReceive it) {
    waiting++;
    owner.reached(it, OperationStage.STARTED);
    long number = it.key.step();
    OpenStep step = owner.steps().open(number);
    CommException refusal = step == null ? owner.words().ended(number) : step.failure();
    refusal = refusal == null ? owner.termination().failure() : refusal;
    if (step == null || refusal != null) {
      end(it, new Arrival.Failed(Objects.requireNonNull(refusal)));
      return;
    }
    it.deadline = owner.attention() + it.limitNanos;
    if (it.deadline < 0) {
      it.deadline = Long.MAX_VALUE;
    }
    earliest = Math.min(earliest, it.deadline);
    if (it.edge().source() == owner.rank()) {
      meet(it, step);
    } else {
      ask(it, step);
    }
  }

  /// Receives a tensor whose producer is this rank.
  private void meet(PendingReceive it, OpenStep step) {
    PendingSide other = owner.table().get(it.route, step, it.frame, it.iteration);
    if (other instanceof Publication there) {
      owner.leave(there);
      take(it, there);
    } else if (other != null) {
      end(it, new Arrival.Failed(owner.words().askedTwice(it.edge(), it.key.step())));
    } else {
      step.add(it);
      owner.table().put(it, step);
    }
  }

  private void ask(PendingReceive it, OpenStep step) {
    RendezvousPeer peer = owner.peer(it.edge().source());
    CommException loss = owner.termination().loss(peer.rank());
    if (loss == null && (tokens.isFull() || !tell(it.route, peer))) {
      loss = owner.words().tooMany(it.edge(), it.key.step());
    }
    if (loss != null) {
      end(it, new Arrival.Failed(loss));
      return;
    }
    it.asks(peer, tokens.take(it));
    step.add(it);
    TensorSpec expected = it.route.expected();
    if (asksForWrites() && expected != null && expected.bytes() > eagerBytes) {
      it.receiveBuffer = receiveBuffers.take(it.route, expected.bytes());
      it.signature = expected;
      it.stand = it.receiveBuffer == null ? Stand.ASKED : Stand.ASKED_INTO;
    }
    peer.post(it);
  }

  /// Assigns the edge a number at its source. Returns false if too many edges have one.
  private static boolean tell(Route route, RendezvousPeer peer) {
    if (!route.isTold()) {
      int number = peer.nextEdge();
      if (number < 0) {
        return false;
      }
      route.tell(number);
      byte[] name = route.edge().name().getBytes(java.nio.charset.StandardCharsets.UTF_8);
      peer.post(message -> message.edge(number, route.edge().incarnation(), name));
    }
    return true;
  }

  // --- answers

  /// Delivers a tensor of this rank itself, in the producer's memory, until the receiver closes it.
  void take(PendingReceive it, Publication from) {
    end(it, owner.lend(from));
  }

  /// Returns the receive that waits for an answer of this peer, or null if there is none.
  private @Nullable PendingReceive asked(RendezvousPeer from, int id) {
    PendingReceive it = tokens.find(id, PendingReceive.class);
    return it != null && it.peer() == from && it.stand != Stand.READS ? it : null;
  }

  /// Returns the signature of the edge's last tensor, or null if no receive waits under this id.
  @Nullable TensorSpec expected(int id) {
    PendingReceive it = tokens.find(id, PendingReceive.class);
    return it == null ? null : it.route.expected();
  }

  void onDead(RendezvousPeer from, int id) {
    PendingReceive it = asked(from, id);
    if (it != null) {
      owner.traffic().received();
      giveUpReceiveBuffer(it);
      end(it, new Arrival.Dead());
    }
  }

  /// @param data valid during the call
  void onInline(RendezvousPeer from, int id, TensorSpec like, MemorySegment data) {
    PendingReceive it = asked(from, id);
    if (it == null || !fits(it, like)) {
      return;
    }
    if (place(it, like)) {
      it.there().memory().copyFrom(data);
      arrive(it);
    } else {
      it.stand = Stand.AWAITS_MEMORY;
      it.early = data.toArray(ValueLayout.JAVA_BYTE);
      stalled.add(it);
    }
  }

  void onMeta(RendezvousPeer from, int id, int token, TensorSpec like, RemoteRegion region) {
    PendingReceive it = asked(from, id);
    if (it == null || !fits(it, like)) {
      release(from, token);
      return;
    }
    it.reads(token, region);
    it.signature = like;
    read(it);
  }

  void onShape(RendezvousPeer from, int id, int token, TensorSpec like) {
    PendingReceive it = asked(from, id);
    if (it == null || !fits(it, like)) {
      release(from, token);
      return;
    }
    it.stand = Stand.AWAITS_WRITE;
    offer(it, token, like);
  }

  /// Sends the memory into which the tensor may be written. If there is none now, retries in the
  /// next duty cycle.
  private void offer(PendingReceive it, int token, TensorSpec like) {
    RendezvousPeer peer = Objects.requireNonNull(it.peer());
    if (it.stand == Stand.ENDED) {
      release(peer, token);
    } else if (place(it, like)) {
      RemoteRegion into = receiveBuffers.export(it.there());
      peer.post(message -> message.destination(token, it.request(), like, into));
    } else {
      owner.later(() -> offer(it, token, like));
    }
  }

  void onNotify(PendingReceive it) {
    if (it.receiveBuffer != null
        && (it.stand == Stand.ASKED_INTO || it.stand == Stand.AWAITS_WRITE)
        && it.written()) {
      arrive(it);
    }
  }

  void onFailed(RendezvousPeer from, int id, String why) {
    PendingReceive it = tokens.find(id, PendingReceive.class);
    if (it != null && it.peer() == from) {
      owner.leave(it);
      fail(it, owner.words().failedThere(it.key, why));
    }
  }

  private boolean fits(PendingReceive it, TensorSpec like) {
    if (receiveBuffers.canHold(like.bytes())) {
      it.route.expect(like);
      it.signature = like;
      owner.reached(it, OperationStage.NEGOTIATED);
      return true;
    }
    owner.leave(it);
    fail(it, owner.words().tooLong(it.key, like, receiveBuffers.memoryBytes()));
    return false;
  }

  /// Provides memory for the tensor. Returns whether there is any.
  private boolean place(PendingReceive it, TensorSpec like) {
    it.signature = like;
    RouteBuffer receiveBuffer = it.receiveBuffer;
    if (receiveBuffer != null && receiveBuffer.memory().byteSize() != like.bytes()) {
      giveUpReceiveBuffer(it);
      receiveBuffer = null;
    }
    if (receiveBuffer == null) {
      receiveBuffer = receiveBuffers.take(it.route, like.bytes());
      it.receiveBuffer = receiveBuffer;
    }
    return receiveBuffer != null;
  }

  private void giveUpReceiveBuffer(PendingReceive it) {
    RouteBuffer receiveBuffer = it.receiveBuffer;
    if (receiveBuffer != null) {
      it.receiveBuffer = null;
      receiveBuffers.discard(receiveBuffer);
    }
  }

  // --- reads

  private void read(PendingReceive it) {
    if (place(it, it.live())) {
      reads.enter(it, Objects.requireNonNull(it.peer()));
    } else {
      stalled.add(it);
    }
  }

  /// Posts the next part. Returns false if the endpoint has no room.
  private boolean tryRead(PendingTransfer transfer) {
    PendingReceive it = (PendingReceive) transfer;
    it.posted();
    return switch (owner
        .endpoint(Objects.requireNonNull(it.peer()))
        .tryRead(it.partInto(), it.part(), it.read())) {
      case POSTED -> true;
      case BACK_PRESSURED, CLOSED -> { // the mesh reports the peer's exit
        it.unposted(false);
        yield false;
      }
    };
  }

  void onSent(PendingReceive it) {
    owner.reached(it, OperationStage.SENT);
  }

  void onRead(PendingReceive it, @Nullable TransportException failure) {
    RendezvousPeer peer = Objects.requireNonNull(it.peer());
    if (failure == null && it.stand != Stand.ENDED && it.leftBytes() > 0) {
      reads.again(it);
      return;
    }
    reads.leave(it);
    if (it.stand == Stand.ENDED) {
      draining--;
      giveUpReceiveBuffer(it);
      release(peer, it.token());
    } else if (failure == null) {
      release(peer, it.token());
      arrive(it);
    } else if (!(failure instanceof TransportException.EndpointLost)) { // the mesh reports those
      owner.leave(it);
      fail(it, owner.words().notRead(it.key, it.live(), failure));
    }
  }

  private static void release(RendezvousPeer peer, int token) {
    peer.post(message -> message.release(token));
  }

  /// Retries the receives that lacked memory, and starts the reads that have room. Returns the
  /// number that made progress.
  ///
  /// Hot path.
  int retry() {
    return (stalled.isEmpty() ? 0 : retryStalled()) + reads.advance();
  }

  private int retryStalled() {
    List<PendingReceive> again = List.copyOf(stalled);
    stalled.clear();
    for (PendingReceive it : again) {
      byte[] early = it.early;
      if (it.stand == Stand.READS) {
        read(it);
      } else if (early != null && it.stand == Stand.AWAITS_MEMORY) {
        if (place(it, it.live())) {
          it.there().memory().copyFrom(MemorySegment.ofArray(early));
          arrive(it);
        } else {
          stalled.add(it);
        }
      }
    }
    return again.size() - stalled.size();
  }

  // --- completion

  private void arrive(PendingReceive it) {
    RouteBuffer receiveBuffer = it.there();
    it.receiveBuffer = null;
    owner.traffic().received();
    owner.reached(it, OperationStage.REDUCED);
    end(it, new Arrival.Live(receiveBuffers.give(it.route, receiveBuffer, it.live())));
  }

  /// Fails a receive that has left its step and the table.
  void fail(PendingReceive it, CommException cause) {
    RendezvousPeer peer = it.peer();
    if (it.stand == Stand.READS && it.isPosted()) {
      draining++;
    } else {
      reads.leave(it);
      giveUpReceiveBuffer(it);
      if (it.stand == Stand.READS && peer != null) {
        release(peer, it.token());
      }
    }
    end(it, new Arrival.Failed(cause));
  }

  private void end(PendingReceive it, Arrival with) {
    waiting--;
    if (it.step != null) {
      owner.leave(it);
    }
    if (it.peer() != null) {
      tokens.free(it.request());
    }
    it.ends(with);
    owner.ended(it, with instanceof Arrival.Failed failed ? failed.cause() : null);
    owner.due(it);
  }

  /// Fails the receives whose deadline has passed.
  ///
  /// Hot path.
  void checkDeadlines(long attention) {
    if (attention < earliest) {
      return;
    }
    long next = Long.MAX_VALUE;
    for (OpenStep step : owner.steps().snapshot()) {
      for (PendingSide pending : step.all()) {
        if (pending instanceof PendingReceive it) {
          if (it.deadline <= attention) {
            expire(it);
          } else {
            next = Math.min(next, it.deadline);
          }
        }
      }
    }
    earliest = next;
  }

  private void expire(PendingReceive it) {
    RendezvousPeer peer = it.peer();
    owner.leave(it);
    if (peer != null) {
      int id = it.request();
      long step = it.key.step();
      peer.post(message -> message.cancel(id, step));
    }
    fail(it, owner.words().late(it.key, it.limitNanos));
  }
}
