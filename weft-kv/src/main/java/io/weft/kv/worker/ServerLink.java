// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.agent.AgentRunner;
import io.weft.cluster.channel.IncomingRequest;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestChannel;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.worker.KvHandle.Fate;
import io.weft.kv.worker.ShardRequest.What;
import io.weft.transport.limit.Span;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The way of one worker to one server: requests wait for credits, those of higher priority go
/// first, and so many may wait. Any thread.
final class ServerLink {

  /// Requests that are sent and not over.
  static final int MOST_OPEN = RequestChannel.MAX_OPEN / 2;

  /// Requests that wait for credits; who has more waits in the call.
  static final int MOST_WAITING = 1024;

  /// How long a server may take to tell why it has not answered.
  private static final Duration MOST_WHY = Duration.ofSeconds(2);

  /// Whom it leads to, and how.
  ///
  /// @param channel carries the requests
  /// @param kind theirs
  /// @param runner turns the channel
  /// @param peer rank of the server
  /// @param self rank of the worker
  /// @param local takes the requests where the server is in this process; null = it is not
  /// @param elsewhere sends a request to another server, where this one is lost, or runs what it is
  ///   given when there turns out to be none; false where it does neither
  /// @param moved sends a request to the server that a ring names, which this one has told; whether
  ///   there is one
  record Way(
      RequestChannel channel,
      int kind,
      AgentRunner runner,
      int peer,
      int self,
      @Nullable Consumer<IncomingRequest> local,
      BiPredicate<ShardRequest, Runnable> elsewhere,
      BiPredicate<ShardRequest, String> moved) {}

  /// Bounds.
  ///
  /// @param inFlightBytes of requests that are sent and not over; a longer one goes alone
  /// @param limit how long a request may take
  record Bounds(long inFlightBytes, Duration limit) {}

  private final Way way;
  private final Bounds bounds;
  private final PushNumbers[] numbers;
  private final StagingMemory staging;
  private final PriorityQueue<ShardRequest> waiting =
      new PriorityQueue<>(
          Comparator.<ShardRequest>comparingInt(it -> it.what().priority())
              .reversed()
              .thenComparingLong(ShardRequest::sequence));
  private long sequence;
  private long inFlightBytes;
  private int open;

  /// The server is: what waits is sent no more, but fails, and goes elsewhere.
  private volatile boolean lost;

  /// @param numbers of pushes, by shard
  ServerLink(Way way, Bounds bounds, PushNumbers[] numbers, StagingMemory staging) {
    this.way = way;
    this.bounds = bounds;
    this.numbers = numbers;
    this.staging = staging;
  }

  /// Sends it as soon as it is its turn. Waits, at most the limit, where too many wait; then throws
  /// `CommException.TimedOut`, and nothing was sent. Throws `CommException.Aborted` in a callback
  /// that runs after this rank has left the job.
  void submit(ShardRequest it) throws InterruptedException {
    way.channel().checkOpen();
    if (it.isPush()) {
      it.number(numbers[it.what().shard()].next(it.what().table()));
    } else if (it.what().op() == KvOp.CLOCK) {
      it.number(numbers[it.what().shard()].last());
    }
    try {
      it.stage(staging);
      enter(it);
    } catch (InterruptedException | RuntimeException | Error refused) {
      settle(it);
      throw refused;
    }
    pump();
  }

  private void enter(ShardRequest it) throws InterruptedException {
    long begin = way.runner().nanos();
    synchronized (this) {
      while (waiting.size() >= MOST_WAITING) {
        long waited = way.runner().nanos() - begin;
        if (way.runner().isInside() || waited >= Span.nanos(bounds.limit())) {
          throw new CommException.TimedOut(
              "%s: %d requests wait for rank %d, which answers none of them since %d ms; push less at once, or look what it does"
                  .formatted(it.handle().words(), waiting.size(), way.peer(), waited / 1_000_000),
              List.of(way.peer()));
        }
        wait(1);
      }
      it.sequence(sequence++);
      waiting.add(it);
    }
  }

  /// The same on the progress thread, which does not wait.
  void follow(ShardRequest it) {
    if (it.isPush() && it.number() == 0) {
      it.number(numbers[it.what().shard()].next(it.what().table()));
    }
    try {
      it.stage(staging);
    } catch (RuntimeException | Error refused) {
      settle(it);
      it.fail(
          new CommException.Broken(it.handle().words() + ": " + refused, way.self(), refused),
          Fate.NOT_DONE);
      return;
    }
    synchronized (this) {
      it.sequence(sequence++);
      waiting.add(it);
    }
    pump();
  }

  /// Sends what there are credits for.
  private void pump() {
    while (true) {
      ShardRequest next;
      synchronized (this) {
        next = waiting.peek();
        if (next == null
            || open >= MOST_OPEN
            || isEarly(next)
            || (open > 0 && inFlightBytes + next.bytes() > bounds.inFlightBytes())) {
          return;
        }
        var unused = waiting.poll();
        open++;
        inFlightBytes += next.bytes();
        if (waiting.size() == MOST_WAITING - 1) {
          notifyAll();
        }
      }
      if (!send(next)) {
        return;
      }
    }
  }

  /// Whether it tells of a clock, and pushes before it are not over, which may be sent once more.
  /// Clocks go behind all else, so that nothing waits for them.
  private boolean isEarly(ShardRequest it) {
    return it.what().op() == KvOp.CLOCK
        && !lost
        && !numbers[it.what().shard()].areOver(it.what().table(), it.number());
  }

  private boolean send(ShardRequest it) {
    long bytes = it.bytes();
    KvHead head = it.head(numbers[it.what().shard()].settled());
    MemorySegment words = MemorySegment.ofArray(new byte[KvHead.BYTES]);
    head.write(words);
    Consumer<IncomingRequest> local = way.local();
    Consumer<RequestOutcome> receiver = outcome -> hear(it, bytes, outcome);
    if (local != null) {
      long end = way.runner().nanos() + Span.nanos(it.limitOr(bounds.limit()));
      local.accept(new LocalRequest(way.self(), words, it.payload(), it.place(), receiver, end));
      return true;
    }
    var request =
        new Request(way.kind(), words, it.payload(), it.place(), it.limitOr(bounds.limit()));
    try {
      if (way.channel().tryRequest(way.peer(), request, receiver)) {
        return true;
      }
    } catch (RuntimeException | Error refused) {
      release(bytes);
      settle(it);
      it.fail(
          new CommException.Broken(it.handle().words() + ": " + refused, way.self(), refused),
          Fate.NOT_DONE);
      return true;
    }
    return postponed(it, bytes);
  }

  /// The channel has no room: other services use it too. What is open here brings the next turn.
  private boolean postponed(ShardRequest it, long bytes) {
    synchronized (this) {
      open--;
      inFlightBytes -= bytes;
      if (open > 0) {
        waiting.add(it);
        return false;
      }
    }
    settle(it);
    it.fail(
        new CommException.TimedOut(
            it.handle().words()
                + ": other services have as many requests open to rank "
                + way.peer()
                + " as there may be; wait for some of theirs",
            List.of(way.peer())),
        Fate.NOT_DONE);
    return true;
  }

  private synchronized void release(long bytes) {
    open--;
    inFlightBytes -= bytes;
  }

  private void settle(ShardRequest it) {
    if (it.isPush()) {
      numbers[it.what().shard()].over(it.number());
    }
  }

  private void hear(ShardRequest it, long bytes, RequestOutcome outcome) {
    release(bytes);
    switch (outcome) {
      case RequestOutcome.Replied(MemorySegment body, long written) -> replied(it, body, written);
      case RequestOutcome.Failed(CommException cause) -> {
        boolean gone = cause instanceof CommException.PeerLost peer && peer.rank() == way.peer();
        if (gone) {
          lost = true;
        }
        it.server(way.peer());
        Runnable fails =
            () -> {
              settle(it);
              it.fail(cause, Fate.UNKNOWN);
            };
        if (cause instanceof CommException.TimedOut late && way.local() != null) {
          late(it, late, Fate.DONE, "it is of this process"); // what waits there was taken
        } else if (cause instanceof CommException.TimedOut late) {
          askWhy(it, late);
        } else if (!gone || !way.elsewhere().test(it, fails)) {
          fails.run();
        }
      }
    }
    pump();
  }

  /// The channel knows no tables, and who waits may wait for another worker: the server knows.
  private void askWhy(ShardRequest it, CommException.TimedOut late) {
    What about = it.what();
    MemorySegment words = MemorySegment.ofArray(new byte[KvHead.BYTES]);
    new KvHead(
            KvOp.WHY,
            KvHead.Keys.NONE,
            about.shard(),
            about.table(),
            0,
            0,
            about.clock(),
            about.op().code(),
            0,
            0,
            about.part(),
            KvHead.Values.FLOAT32,
            it.ring())
        .write(words);
    Duration limit = bounds.limit().compareTo(MOST_WHY) < 0 ? bounds.limit() : MOST_WHY;
    var request = Request.of(way.kind(), words, MemorySegment.NULL, limit);
    boolean asked;
    try {
      asked = way.channel().tryRequest(way.peer(), request, told -> late(it, late, told));
    } catch (RuntimeException | Error unasked) {
      asked = false;
    }
    if (!asked) {
      late(it, late, Fate.UNKNOWN, "too many requests are open to rank " + way.peer());
    }
  }

  private void late(ShardRequest it, CommException.TimedOut late, RequestOutcome told) {
    if (told instanceof RequestOutcome.Replied(MemorySegment body, long _)) {
      try {
        KvReply reply = KvReply.read(body);
        switch (reply.status()) {
          case DONE, VALUES -> late(it, late, fate(reply.applied()), reply.text());
          case ENDED -> late(it, late, Fate.ENDED, "the table has ended: " + reply.text());
          case UNKNOWN_LIST, REFUSED, MOVED -> late(it, late, Fate.UNKNOWN, reply.text());
        }
        return;
      } catch (IllegalArgumentException wrong) {
        late(it, late, Fate.UNKNOWN, String.valueOf(wrong.getMessage()));
        return;
      }
    }
    late(
        it,
        late,
        Fate.UNKNOWN,
        "rank " + way.peer() + " does not tell what it does, as one that is stopped or overloaded");
  }

  private static Fate fate(long taken) {
    if (taken == KvReply.TAKEN) {
      return Fate.DONE;
    }
    return taken == KvReply.NOT_TAKEN ? Fate.NOT_DONE : Fate.UNKNOWN;
  }

  private void late(ShardRequest it, CommException.TimedOut late, Fate fate, String why) {
    settle(it);
    it.fail(
        new CommException.TimedOut(
            "%s: shard %d: %s; %s"
                .formatted(it.handle().words(), it.what().shard(), late.getMessage(), why),
            late.missing()),
        it.what().op() == KvOp.WAIT ? Fate.NOT_DONE : fate);
  }

  private void replied(ShardRequest it, MemorySegment body, long written) {
    KvReply reply;
    try {
      reply = KvReply.read(body);
    } catch (IllegalArgumentException wrong) {
      reply = KvReply.refused(String.valueOf(wrong.getMessage()));
    }
    switch (reply.status()) {
      case DONE, VALUES -> {
        settle(it);
        it.done(reply, written);
      }
      case UNKNOWN_LIST -> {
        if (it.repeat()) {
          follow(it); // the same number
          return;
        }
        refuse(it, "it does not keep its keys");
      }
      case MOVED -> {
        if (!way.moved().test(it, reply.text())) {
          refuse(it, "it names no server that has the shard: " + reply.text());
        }
      }
      case REFUSED -> refuse(it, reply.text());
      case ENDED -> {
        settle(it);
        it.fail(
            new CommException.Mismatch(WholePush.ended(it.handle().words(), reply.text())),
            Fate.ENDED);
      }
    }
  }

  private void refuse(ShardRequest it, String why) {
    settle(it);
    it.fail(
        new CommException.Mismatch(
            "%s: rank %d has refused it: %s".formatted(it.handle().words(), way.peer(), why)),
        Fate.NOT_DONE);
  }
}
