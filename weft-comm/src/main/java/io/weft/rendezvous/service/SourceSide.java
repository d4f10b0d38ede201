// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.cluster.TokenTable;
import io.weft.comm.CommException;
import io.weft.observer.OperationStage;
import io.weft.rendezvous.RendezvousOptions;
import io.weft.rendezvous.frame.ItemWriter;
import io.weft.rendezvous.frame.TensorSpec;
import io.weft.rendezvous.route.RouteBuffer;
import io.weft.rendezvous.route.SendBuffers;
import io.weft.rendezvous.service.Publication.Delivery;
import io.weft.tensor.TensorView;
import io.weft.transport.Capabilities;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The producer side of a rank's rendezvous. It answers requests with published tensors, parks
/// requests whose tensors are not published yet, and keeps each tensor until its consumer has
/// received it. Confined to the progress thread.
final class SourceSide {

  /// Maximum number of parked requests of one peer.
  private static final int MAX_PARKED = 1 << 17;

  private final MeshRendezvous owner;
  private final int eagerBytes;
  private final long maxTransferBytes;
  private final TokenTable tokens;
  private final SendBuffers buffers;
  private final TransferWindows writes;
  private final List<Publication> draining = new ArrayList<>();

  /// The tensors of failed transfers whose peers may still read them, until they send `RELEASE`.
  private final List<Publication> withdrawn = new ArrayList<>();

  private long held;
  private long parked;
  private int writing;

  SourceSide(
      MeshRendezvous owner,
      TokenTable tokens,
      SendBuffers buffers,
      RendezvousOptions options,
      Capabilities transport) {
    this.owner = owner;
    this.tokens = tokens;
    this.buffers = buffers;
    this.eagerBytes = eagerBytes(options, transport);
    this.maxTransferBytes = transport.maxTransferBytes();
    this.writes = new TransferWindows(maxTransferBytes, this::tryWrite);
  }

  /// Returns the length of the longest tensor that travels in a message, in bytes.
  static int eagerBytes(RendezvousOptions options, Capabilities transport) {
    int room =
        transport.maxMessageBytes() - ItemWriter.HEADER_BYTES - 5 - TensorSpec.MAX_WIRE_BYTES;
    return Math.min(options.eagerBytes().orElse(transport.eagerBytes()), room);
  }

  /// Number of tensors not yet released.
  long held() {
    return held;
  }

  long parked() {
    return parked;
  }

  int draining() {
    return draining.size() + withdrawn.size();
  }

  boolean isBusy() {
    return writing > 0 || !draining.isEmpty() || !withdrawn.isEmpty();
  }

  // --- matching

  void enter(Publication it) {
    held++;
    owner.reached(it, OperationStage.STARTED);
    CommException refusal = owner.termination().failure();
    OpenStep step = refusal != null ? null : owner.steps().open(it.stepNumber);
    if (refusal == null) {
      refusal = step == null ? owner.words().ended(it.stepNumber) : step.failure();
    }
    if (step == null || refusal != null) {
      it.fails(Objects.requireNonNull(refusal));
      finish(it);
      return;
    }
    PendingSide other = owner.table().get(it.route, step, it.frame, it.iteration);
    switch (other) {
      case null -> {
        step.add(it);
        owner.table().put(it, step);
      }
      case Publication _ -> {
        CommException twice = owner.words().publishedTwice(it);
        it.fails(twice);
        finish(it);
        owner.termination().abort(it.stepNumber, twice);
      }
      case PendingReceive pendingReceive -> {
        owner.leave(pendingReceive);
        owner.destination().take(pendingReceive, it);
      }
      case ParkedRequest request -> {
        owner.leave(request);
        unpark(request);
        step.add(it);
        answer(it, request);
      }
    }
  }

  void enter(ParkedRequest it) {
    OpenStep step =
        owner.termination().failure() != null ? null : owner.steps().open(it.stepNumber);
    CommException refusal = step == null ? owner.words().ended(it.stepNumber) : step.failure();
    if (step == null || refusal != null) {
      it.fail(Objects.requireNonNull(refusal));
      return;
    }
    PendingSide other = owner.table().get(it.route, step, it.frame, it.iteration);
    if (other instanceof Publication there) {
      owner.table().remove(there, step);
      answer(there, it);
    } else if (other != null) {
      it.fail(owner.words().askedTwice(it.edge(), it.stepNumber));
    } else if (it.peer.park(1) > MAX_PARKED) {
      owner.mistrust(it.peer, "it has more than " + MAX_PARKED + " requests open");
    } else {
      parked++;
      step.add(it);
      owner.table().put(it, step);
    }
  }

  private void unpark(ParkedRequest it) {
    int unused = it.peer.park(-1);
    parked--;
  }

  /// Drops a request that the consumer has cancelled, or whose consumer is gone.
  void drop(ParkedRequest it) {
    owner.leave(it);
    unpark(it);
  }

  // --- answers

  private void answer(Publication it, ParkedRequest request) {
    owner.reached(it, OperationStage.NEGOTIATED);
    if (it.signature == null || it.bytes() <= eagerBytes) {
      it.goesTo(request, it.signature == null ? Delivery.DEAD : Delivery.INLINE, 0);
      request.peer.post(it);
      return;
    }
    if (tokens.isFull()) {
      CommException tooMany = owner.words().tooMany(it.edge(), it.stepNumber);
      owner.leave(it);
      it.fails(tooMany);
      finish(it);
      request.fail(tooMany);
      return;
    }
    int token = tokens.take(it);
    RemoteRegion into = request.destination.into();
    boolean writes = request.destination.writes() && it.bytes() <= maxTransferBytes;
    if (writes && into != null && it.live().equals(request.destination.expected())) {
      it.goesTo(request, Delivery.WRITE, token);
      write(it, into);
    } else {
      it.goesTo(request, writes ? Delivery.SHAPE : Delivery.META, token);
      if (writes || register(it)) {
        request.peer.post(it);
      }
    }
  }

  /// Registers the tensor, or its copy if peers cannot read it where it lies. Returns false, after
  /// failing it, if that is impossible.
  private boolean register(Publication it) {
    try {
      TensorView tensor = Objects.requireNonNull(it.tensor);
      RouteBuffer copy = buffers.copy(it.route, tensor.data());
      if (copy == null) {
        it.registered(owner.register(tensor));
      } else {
        it.copied(copy, buffers.region(copy));
      }
      return true;
    } catch (RuntimeException | Error refused) {
      owner.leave(it);
      fail(it, owner.words().notRegistered(it, refused));
      return false;
    }
  }

  private void write(Publication it, RemoteRegion into) {
    it.delivery = Delivery.WRITE;
    it.goesInto(into);
    writing++;
    writes.enter(it, it.peer());
  }

  /// Returns the reason for the peer that has requested an unreadable tensor.
  byte[] unreadable(Publication it, Throwable thrown) {
    return String.valueOf(owner.words().notRegistered(it, thrown).getMessage())
        .getBytes(StandardCharsets.UTF_8);
  }

  /// Posts the next part. Returns false if the endpoint has no room.
  private boolean tryWrite(PendingTransfer transfer) {
    Publication it = (Publication) transfer;
    if (it.region() == null && !register(it)) {
      return true;
    }
    it.posted();
    return switch (owner
        .endpoint(it.peer())
        .tryWrite(it.part(), it.partInto(), it.request(), it.written())) {
      case POSTED -> true;
      case BACK_PRESSURED, CLOSED -> { // the mesh reports the peer's exit
        it.unposted(false);
        yield false;
      }
    };
  }

  // --- messages of the consumer

  /// Handles the consumer's destination for a tensor whose shape it has received.
  void onDestination(RendezvousPeer from, int token, int id, TensorSpec like, RemoteRegion into) {
    Publication it = tokens.find(token, Publication.class);
    if (it == null || it.peer() != from || it.request() != id) {
      from.post(message -> message.failed(id, owner.words().notHere()));
    } else if (it.delivery != Delivery.SHAPE || !it.live().equals(like)) {
      owner.mistrust(from, "it offers memory for another tensor than it was told of");
    } else {
      write(it, into);
    }
  }

  /// Handles the consumer's release of a tensor that it has read or does not want. A late release
  /// has no effect.
  void onRelease(RendezvousPeer from, int token) {
    Publication it = tokens.find(token, Publication.class);
    if (it != null && it.peer() == from && it.delivery != Delivery.WRITE) {
      boolean unused = withdrawn.remove(it);
      it.left();
      finish(it);
    }
  }

  /// Ends the withdrawn tensors of peers that send no more messages to this rank.
  void endWithdrawn() {
    for (int i = withdrawn.size() - 1; i >= 0; i--) {
      if (!answers(withdrawn.get(i).peer())) {
        finish(withdrawn.remove(i));
      }
    }
  }

  private boolean answers(RendezvousPeer peer) {
    return !peer.isGone() && owner.termination().failure() == null;
  }

  // --- completion

  /// Continues with the next part, unless the write has ended or has failed.
  void onWritten(Publication it, boolean ended) {
    boolean failed = it.step == null;
    if (!ended && !failed) {
      writes.again(it);
      return;
    }
    if (failed) {
      draining.remove(it);
    }
    writes.leave(it);
    writing--;
    it.left();
    finish(it);
  }

  /// Ends a publication that no consumer needs any more. It may be in its step, but not in the
  /// table.
  void finish(Publication it) {
    OpenStep step = it.step;
    if (step != null) {
      step.remove(it);
    }
    if (tokens.find(it.token()) == it) {
      tokens.free(it.token());
    }
    it.delivery = Delivery.ENDED;
    RouteBuffer copy = it.takeCopy();
    MemoryRegion region = it.region();
    if (copy != null && it.hasLeft()) {
      buffers.keep(it.route, copy);
    } else if (copy != null) {
      buffers.discard(copy);
    } else if (region != null && it.hasLeft()) {
      region.release();
    } else if (region != null) {
      region.close();
      if (region.isVisited()) {
        draining.add(it);
        return;
      }
    }
    letGo(it);
  }

  /// Hands the tensor to a receiver on this rank, which releases it.
  void handOver(Publication it) {
    it.delivery = Delivery.ENDED;
    held--;
    owner.ended(it, null);
  }

  private void letGo(Publication it) {
    held--;
    if (it.failure() == null) {
      owner.reached(it, OperationStage.SENT);
    }
    owner.ended(it, it.failure());
    owner.run(it.release());
  }

  /// Fails a publication that has left its step and the table. A peer that has requested it
  /// receives the reason.
  void fail(Publication it, CommException cause) {
    it.fails(cause);
    Delivery delivery = it.delivery;
    if (delivery != Delivery.NONE && delivery != Delivery.ENDED) {
      RendezvousPeer peer = it.peer();
      int id = it.request();
      byte[] why = String.valueOf(cause.getMessage()).getBytes(StandardCharsets.UTF_8);
      peer.post(message -> message.failed(id, why));
    }
    if (delivery == Delivery.WRITE) {
      if (it.isPosted()) {
        draining.add(it); // the transport uses it until the part completes
        return;
      }
      writes.leave(it);
      writing--;
    }
    if (delivery == Delivery.META && it.isOffered() && answers(it.peer())) {
      withdrawn.add(it); // closing the region would end a connection on which the peer reads it
      return;
    }
    finish(it);
  }

  /// Starts the writes that have room, and releases the tensors that peers no longer access.
  /// Returns the number that made progress.
  ///
  /// Hot path.
  int retry() {
    int done = writes.advance();
    for (int i = draining.size() - 1; i >= 0; i--) {
      Publication it = draining.get(i);
      if (it.delivery == Delivery.ENDED && !isVisited(it.region())) {
        draining.remove(i);
        letGo(it);
        done++;
      }
    }
    return done;
  }

  private static boolean isVisited(@Nullable MemoryRegion region) {
    return region != null && region.isVisited();
  }
}
