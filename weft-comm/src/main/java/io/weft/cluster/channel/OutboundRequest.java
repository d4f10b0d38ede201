// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.cluster.TokenOwner;
import io.weft.cluster.item.OutboundItem;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationStage;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import io.weft.transport.Slice;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.pool.SliceLease;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A request of this rank, from its submission until its receiver has been notified. Confined to
/// the progress thread once it has entered.
final class OutboundRequest
    implements TokenOwner, OutboundItem<ChannelFrame.Writer>, ObservedOperation {

  private final MeshChannel channel;
  private final ChannelPeer peer;
  private final Request request;
  private final MemorySegment head;
  private final Consumer<? super RequestOutcome> receiver;
  private final long number;
  private final long submittedNanos;
  private int token;
  private long deadline;
  private boolean left;
  private boolean heard;
  private boolean written;
  private boolean ended;
  private @Nullable SliceLease copy;
  private @Nullable MemoryRegion payload;
  private @Nullable MemoryRegion into;
  private @Nullable RequestOutcome outcome;

  OutboundRequest(
      MeshChannel channel,
      ChannelPeer peer,
      Request request,
      Consumer<? super RequestOutcome> receiver) {
    this.channel = channel;
    this.number = channel.events().next();
    this.submittedNanos = channel.events().nanos();
    this.peer = peer;
    this.request = request;
    this.receiver = receiver;
    this.head = Arena.ofAuto().allocate(Math.max(1, request.head().byteSize()));
    head.copyFrom(request.head());
  }

  ChannelPeer peer() {
    return peer;
  }

  long limitNanos() {
    return ClampedDuration.nanos(request.limit());
  }

  long deadline() {
    return deadline;
  }

  int token() {
    return token;
  }

  /// Returns whether the request was sent, so that the peer knows of it.
  boolean hasLeft() {
    return left;
  }

  boolean isEnded() {
    return ended;
  }

  /// Begins the request.
  ///
  /// @param eagerBytes longest payload that travels in the message
  void begin(int number, long deadlineNanos, long eagerBytes) {
    token = number;
    deadline = deadlineNanos;
    MemorySegment place = request.into();
    if (request.payload().byteSize() > eagerBytes) {
      copy = channel.copies().tryCopy(request.payload());
      payload = channel.register(copy == null ? request.payload() : memory(copy));
    }
    if (place != null && place.byteSize() > 0) {
      into = channel.register(place);
    }
    peer.asked().add(this);
    peer.post(this);
  }

  private MemorySegment memory(SliceLease lease) {
    Slice all = lease.slice();
    return all.region().segment().asSlice(all.offset(), request.payload().byteSize());
  }

  @Override
  public boolean write(ChannelFrame.Writer message) {
    if (ended) {
      return true;
    }
    MemorySegment there = request.payload();
    long headBytes = request.head().byteSize();
    RemoteRegion from = payload == null ? null : payload.export();
    MemorySegment body = head.asSlice(0, headBytes);
    if (from == null && there.byteSize() > 0) {
      try {
        body = channel.joined().join(body, there);
      } catch (RuntimeException | Error closed) {
        fail(channel.messages().unreadable(this, closed));
        return true;
      }
    }
    return message.write(
        new ChannelFrame.Asked(
            token,
            request.kind(),
            (int) headBytes,
            there.byteSize(),
            from,
            into == null ? null : into.export(),
            body));
  }

  @Override
  public void sent() {
    if (!ended) {
      left = true;
      channel.events().reached(this, OperationStage.SENT);
    }
  }

  @Override
  public boolean onNotify(int fromRank) {
    boolean may = fromRank == peer.rank() && into != null;
    written |= may;
    return may;
  }

  /// Checks the peer's claim to have written this number of bytes. Returns false if it cannot be
  /// true.
  boolean isWritten(long bytes) {
    MemoryRegion place = into;
    return bytes == 0
        || (written && place != null && bytes > 0 && bytes <= place.segment().byteSize());
  }

  /// Ends the request. Its memory returns to the caller when the receiver is notified.
  void end(RequestOutcome with) {
    ended = true;
    outcome = with;
    close(payload);
    close(into);
  }

  /// Closes a region; a peer that has answered has left it.
  private void close(@Nullable MemoryRegion region) {
    if (region == null) {
      return;
    }
    if (heard) {
      region.release();
    } else {
      region.close();
    }
  }

  void fail(CommException cause) {
    channel.end(this, new RequestOutcome.Failed(cause));
  }

  void hear() {
    heard = true;
  }

  /// Returns whether a peer may still access the request's memory.
  boolean isVisited() {
    return (payload != null && payload.isVisited()) || (into != null && into.isVisited());
  }

  /// Copies the outcome, which is delivered after its message has become invalid.
  void keepOutcome() {
    if (outcome instanceof RequestOutcome.Replied replied) {
      MemorySegment body = MemorySegment.ofArray(replied.body().toArray(JAVA_BYTE));
      outcome = new RequestOutcome.Replied(body, replied.written());
    }
  }

  void tell() {
    RequestOutcome known = outcome;
    SliceLease copied = copy;
    if (copied != null) {
      copy = null;
      channel.copies().free(copied);
    }
    if (known != null) {
      peer.close();
      channel
          .events()
          .ended(this, known instanceof RequestOutcome.Failed failed ? failed.cause() : null);
      receiver.accept(known);
    }
  }

  // --- for the observer

  @Override
  public Service service() {
    return Service.CHANNEL;
  }

  @Override
  public long id() {
    return number;
  }

  @Override
  public String name() {
    return "request";
  }

  @Override
  public String words() {
    return "request to rank " + peer.rank() + " of " + bytes() + " bytes";
  }

  @Override
  public long bytes() {
    return request.head().byteSize() + request.payload().byteSize();
  }

  @Override
  public long submittedNanos() {
    return submittedNanos;
  }

  @Override
  public int lastHeard() {
    return heard ? peer.rank() : -1;
  }

  @Override
  public List<Integer> awaited() {
    return ended ? List.of() : List.of(peer.rank());
  }
}
