// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.weft.memory.UserMemory;
import io.weft.transport.Completion;
import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.TransportException;
import io.weft.transport.pool.SliceLease;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// A request of a peer, from its arrival until it is answered and none of its transfers is posted.
/// The handler owns it from its delivery to its answer. Confined to the progress thread, except the
/// methods for its user.
final class InboundRequest implements IncomingRequest {

  private static final MemorySegment NOTHING = MemorySegment.NULL;

  private final MeshChannel channel;
  private final ChannelPeer peer;
  private final int token;
  private final int kind;
  private final MemorySegment head;
  private final long payloadBytes;
  private final @Nullable RemoteRegion from;
  private final @Nullable RemoteRegion into;
  private final AtomicBoolean ended = new AtomicBoolean();
  private final Completion read = new PartRead();
  private MemorySegment payload;
  private @Nullable SliceLease lease;
  private long readBytes;
  private long partBytes;
  private boolean posted;
  private boolean withdrawn;
  private @Nullable String unreadable;

  /// @param asked the request, whose body is copied
  InboundRequest(MeshChannel channel, ChannelPeer peer, ChannelFrame.Asked asked) {
    this.channel = channel;
    this.peer = peer;
    this.token = asked.token();
    this.kind = asked.kind();
    this.payloadBytes = asked.payloadBytes();
    this.from = asked.from();
    this.into = asked.into();
    MemorySegment kept = MemorySegment.ofArray(asked.body().toArray(JAVA_BYTE));
    this.head = kept.asSlice(0, asked.headBytes()).asReadOnly();
    this.payload = from == null ? kept.asSlice(asked.headBytes()).asReadOnly() : NOTHING;
  }

  ChannelPeer peer() {
    return peer;
  }

  int token() {
    return token;
  }

  int kind() {
    return kind;
  }

  long payloadBytes() {
    return payloadBytes;
  }

  void withdraw() {
    withdrawn = true;
  }

  boolean isWithdrawn() {
    return withdrawn;
  }

  // --- the payload

  /// Returns whether the handler may see the request.
  boolean isReady() {
    return from == null || readBytes == payloadBytes || unreadable != null || withdrawn;
  }

  boolean needsMemory() {
    return from != null && lease == null && unreadable == null && !withdrawn;
  }

  boolean isPosted() {
    return posted;
  }

  /// The reason why the payload could not be read; null if there is none.
  @Nullable String unreadable() {
    return unreadable;
  }

  void refuse(String why) {
    unreadable = why;
  }

  void lands(SliceLease memory) {
    lease = memory;
    Slice all = memory.slice();
    payload = all.region().segment().asSlice(all.offset(), payloadBytes).asReadOnly();
  }

  /// Reads the next part of the payload. Returns whether a read was posted.
  boolean read(Endpoint endpoint, long maxTransferBytes) {
    SliceLease memory = lease;
    RemoteRegion source = from;
    if (memory == null || source == null || posted || isReady()) {
      return false;
    }
    Slice all = memory.slice();
    partBytes = Math.min(maxTransferBytes, payloadBytes - readBytes);
    read.arm(1);
    posted = true;
    PostResult result =
        endpoint.tryRead(
            all.region().slice(all.offset() + readBytes, partBytes),
            new RemoteSlice(source, readBytes, partBytes),
            read);
    if (result == PostResult.POSTED) {
      return true;
    }
    posted = false;
    read.complete(null); // nothing is posted: undoes the arming
    return false;
  }

  private final class PartRead extends Completion {
    @Override
    protected void onSuccess() {
      if (posted) {
        posted = false;
        readBytes += partBytes;
      }
    }

    @Override
    protected void onFailure(TransportException first) {
      posted = false;
      unreadable = String.valueOf(first.getMessage());
    }
  }

  /// Returns the memory to the pool. Must not be called while a read is posted.
  void free() {
    SliceLease memory = lease;
    lease = null;
    payload = NOTHING;
    if (memory != null) {
      memory.close();
    }
  }

  boolean hasMemory() {
    return lease != null;
  }

  // --- for the handler

  @Override
  public int fromRank() {
    return peer.rank();
  }

  @Override
  public MemorySegment head() {
    return head;
  }

  @Override
  public MemorySegment payload() {
    return payload;
  }

  @Override
  public long intoBytes() {
    return into == null ? 0 : into.bytes();
  }

  @Override
  public void reply(MemorySegment body) {
    MemorySegment kept = copied(body);
    endOnce();
    channel.submit(() -> channel.answer(this, new ChannelFrame.Answered(token, 0, kept)));
  }

  @Override
  public void reply(MemorySegment body, MemorySegment written, Runnable release) {
    MemorySegment kept = copied(body);
    Objects.requireNonNull(release, "release");
    if (!written.isNative() || written.byteSize() > intoBytes()) {
      throw new IllegalArgumentException(
          (written.isNative() ? written.byteSize() + " bytes" : "memory in the heap")
              + " to be written for rank "
              + fromRank()
              + ", which offers "
              + intoBytes());
    }
    UserMemory.checkReadable("the data of a reply", written);
    endOnce();
    RemoteRegion place = into;
    if (place == null || written.byteSize() == 0) {
      channel.submit(
          () -> {
            channel.answer(this, new ChannelFrame.Answered(token, 0, kept));
            channel.run(release);
          });
    } else {
      channel.submit(() -> channel.write(new ReplyWrite(kept, written, place, release)));
    }
  }

  @Override
  public void fail(String why) {
    Objects.requireNonNull(why, "why");
    endOnce();
    channel.submit(() -> channel.answer(this, new ChannelFrame.Refused(token, why)));
  }

  /// Fails the request, because the handler has thrown. No effect if the handler had answered
  /// before.
  void broken(Throwable thrown) {
    if (ended.compareAndSet(false, true)) {
      channel.answer(this, new ChannelFrame.Refused(token, "its handler has thrown " + thrown));
    }
  }

  private void endOnce() {
    if (!ended.compareAndSet(false, true)) {
      throw new IllegalStateException(
          "a request of rank " + fromRank() + " is answered already; answer once");
    }
  }

  private static MemorySegment copied(MemorySegment body) {
    if (body.byteSize() > RequestChannel.MAX_HEAD_BYTES) {
      throw new IllegalArgumentException(
          "a reply of "
              + body.byteSize()
              + " bytes; the maximum is "
              + RequestChannel.MAX_HEAD_BYTES
              + "; write longer data into the memory that the request offers");
    }
    return MemorySegment.ofArray(body.toArray(JAVA_BYTE));
  }

  /// A reply that is written into the peer's memory. Confined to the progress thread.
  final class ReplyWrite extends Completion {

    private final MemorySegment body;
    private final MemorySegment written;
    private final RemoteRegion place;
    private final Runnable release;
    private @Nullable MemoryRegion region;
    private long postedBytes;
    private boolean out;
    private boolean failed;
    private @Nullable String unregistered;

    private ReplyWrite(
        MemorySegment body, MemorySegment written, RemoteRegion place, Runnable release) {
      this.body = body;
      this.written = written;
      this.place = place;
      this.release = release;
    }

    InboundRequest request() {
      return InboundRequest.this;
    }

    /// Continues the write. Returns whether it has ended, so that its memory has been released.
    boolean advance(MeshChannel by, long maxTransferBytes) {
      if (out) {
        return false;
      }
      boolean ends = failed || peer.isGone() || withdrawn;
      MemoryRegion source = region;
      if (!ends && source == null) {
        try {
          source = by.register(written);
          region = source;
        } catch (RuntimeException | Error refused) {
          unregistered = String.valueOf(refused.getMessage());
          failed = true;
          ends = true;
        }
      }
      if (!ends && source != null && postedBytes < written.byteSize()) {
        long bytes = Math.min(maxTransferBytes, written.byteSize() - postedBytes);
        arm(1);
        out = true;
        PostResult result =
            by.endpoint(peer)
                .tryWrite(
                    source.slice(postedBytes, bytes),
                    new RemoteSlice(place, postedBytes, bytes),
                    token,
                    this);
        if (result == PostResult.POSTED) {
          postedBytes += bytes;
        } else {
          complete(null); // nothing is posted: undoes the arming
        }
        return false;
      }
      if (source != null) {
        source.close();
        if (source.isVisited()) {
          return false;
        }
      }
      String why = unregistered;
      if (why != null) {
        by.answer(request(), new ChannelFrame.Refused(token, "it cannot be written: " + why));
      } else if (!ends) {
        by.answer(request(), new ChannelFrame.Answered(token, written.byteSize(), body));
      } else {
        by.answered(request());
      }
      by.run(release);
      return true;
    }

    @Override
    protected void onSuccess() {
      out = false;
    }

    /// The peer has withdrawn the request or is gone; the mesh reports the latter.
    @Override
    protected void onFailure(TransportException first) {
      out = false;
      failed = true;
    }
  }
}
