// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/// A request of a worker to a shard of its own process. No channel carries it or limits its time;
/// the shard expires it when it is overdue. Its receiver is called on the shard's thread.
public final class LocalRequest implements IncomingRequest {

  private final int rank;
  private final Request request;
  private final MemorySegment payload;
  private final Consumer<RequestOutcome> receiver;
  private final long endNanos;
  private final AtomicBoolean ended = new AtomicBoolean();

  /// @param endNanos when it is overdue, by the progress thread's clock
  LocalRequest(int rank, Request request, Consumer<RequestOutcome> receiver, long endNanos) {
    this.rank = rank;
    this.request = request;
    this.payload = request.payload().asReadOnly();
    this.receiver = receiver;
    this.endNanos = endNanos;
  }

  @Override
  public int fromRank() {
    return rank;
  }

  @Override
  public MemorySegment head() {
    return request.head();
  }

  @Override
  public MemorySegment payload() {
    return payload;
  }

  @Override
  public long intoBytes() {
    MemorySegment into = request.into();
    return into == null ? 0 : into.byteSize();
  }

  @Override
  public void reply(MemorySegment body) {
    endOnce();
    receiver.accept(new RequestOutcome.Replied(body, 0));
  }

  @Override
  public void reply(MemorySegment body, MemorySegment written, Runnable release) {
    MemorySegment to = request.into();
    if (written.byteSize() > intoBytes()) {
      throw new IllegalArgumentException(
          written.byteSize() + " bytes to be written to a place of " + intoBytes());
    }
    endOnce();
    if (to != null) {
      MemorySegment.copy(written, 0, to, 0, written.byteSize());
    }
    long bytes = written.byteSize();
    release.run();
    receiver.accept(new RequestOutcome.Replied(body, bytes));
  }

  @Override
  public void fail(String why) {
    endOnce();
    receiver.accept(
        new RequestOutcome.Failed(
            new CommException.Aborted("rank " + rank + ", to itself: " + why, rank, null)));
  }

  /// Returns whether the request has waited for longer than its limit.
  public boolean isOverdue(long nowNanos) {
    return nowNanos - endNanos > 0;
  }

  /// Fails the request with a timeout. On the shard's thread.
  public void expire(String why) {
    endOnce();
    receiver.accept(new RequestOutcome.Failed(new CommException.TimedOut(why, List.of())));
  }

  private void endOnce() {
    if (!ended.compareAndSet(false, true)) {
      throw new IllegalStateException("a request is answered already; answer once");
    }
  }
}
