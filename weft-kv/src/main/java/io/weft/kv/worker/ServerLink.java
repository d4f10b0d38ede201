// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.agent.AgentRunner;
import io.weft.cluster.channel.ChannelLane;
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
import io.weft.tensor.TensorLease;
import io.weft.transport.limit.ClampedDuration;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// The connection of one worker to one server on one lane. Requests wait for credits and are sent
/// by priority, higher first. The number of waiting requests is bounded.
///
/// Requests whose answer may wait for the pushes of other workers have credits of their own.
/// Otherwise two workers that push in different orders could wait for each other: each with credits
/// only of requests that wait for pushes that the other cannot send. Any thread.
final class ServerLink {

  /// The maximum number of requests that are sent and not completed.
  static final int MOST_OPEN = RequestChannel.MAX_OPEN / 2;

  /// The maximum number of requests that are sent and may wait for other workers.
  private static final int MOST_AWAITING = RequestChannel.MAX_OPEN / 4;

  /// The maximum number of requests that wait for credits. Further requests wait in the call.
  static final int MOST_WAITING = 1024;

  /// The time for which a waiting thread drives the agent before it checks for an interrupt.
  private static final long DRIVE_NANOS = 100_000_000;

  /// The time between two checks for room while another thread drives the agent.
  private static final long LOOK_NANOS = 200_000;

  /// How long a server may take to report why it has not answered.
  private static final Duration MOST_WHY = Duration.ofSeconds(2);

  private final WorkerLinks links;
  private final int peer;
  private final RequestChannel channel;
  private final LongFunction<TensorLease> staging;

  /// Receives the requests if the server is in this process; null if it is not.
  private final @Nullable Consumer<IncomingRequest> local;

  private final Credits prompt = new Credits(MOST_OPEN);
  private final Credits awaiting = new Credits(MOST_AWAITING);
  private long sequence;

  /// True if the server is lost. Waiting requests then fail and are sent to another server.
  private volatile boolean lost;

  /// The credits of some requests, and those that wait for them. Guarded by the link.
  private static final class Credits {
    private final int most;
    private final PriorityQueue<ShardRequest> waiting =
        new PriorityQueue<>(
            Comparator.<ShardRequest>comparingInt(it -> it.what().priority())
                .reversed()
                .thenComparingLong(ShardRequest::sequence));
    private long inFlightBytes;
    private int open;

    Credits(int most) {
      this.most = most;
    }
  }

  private Credits credits(ShardRequest it) {
    return switch (it.what().answer()) {
      case PROMPT -> prompt;
      case AWAITS_WORKERS -> awaiting;
    };
  }

  /// @param links the connections of the worker, which share limits and numbers
  /// @param peer rank of the server
  /// @param lane carries the requests and has memory for values that must be copied
  ServerLink(WorkerLinks links, int peer, ChannelLane lane) {
    this.links = links;
    this.peer = peer;
    this.channel = lane.channel();
    this.staging = lane.memory();
    this.local = links.local(peer);
  }

  /// Returns the rank of the server.
  int server() {
    return peer;
  }

  /// Queues a request, which is sent when its priority and the credits allow. If the queue is full,
  /// the call waits, at most for the limit. It then throws `CommException.TimedOut`, and nothing
  /// was sent. Throws `CommException.Aborted` in a callback that runs after this rank has left the
  /// job.
  void submit(ShardRequest it) throws InterruptedException {
    channel.checkOpen();
    if (it.isPush()) {
      it.number(links.numbers(it).next(it.what().table()));
    } else if (it.what().op() == KvOp.CLOCK) {
      it.number(links.numbers(it).last());
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
    AgentRunner runner = channel.runner();
    long begin = runner.nanos();
    long end = begin + ClampedDuration.nanos(links.limit());
    while (!offer(it)) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      long now = runner.nanos();
      if (links.isInside() || now - end >= 0) {
        throw new CommException.TimedOut(
            "%s: %d requests wait for rank %d, which has answered none of them for %d ms; push less at once, or check it"
                .formatted(it.handle().words(), MOST_WAITING, peer, (now - begin) / 1_000_000),
            List.of(peer));
      }
      if (!runner.drive(() -> hasRoom(it), Math.min(end, now + DRIVE_NANOS))) {
        boolean unused = runner.await(() -> hasRoom(it), Math.min(end, now + LOOK_NANOS));
      }
    }
  }

  private synchronized boolean hasRoom(ShardRequest it) {
    return credits(it).waiting.size() < MOST_WAITING;
  }

  /// Queues a request if there is room.
  private synchronized boolean offer(ShardRequest it) {
    if (!hasRoom(it)) {
      return false;
    }
    it.sequence(sequence++);
    credits(it).waiting.add(it);
    return true;
  }

  /// Queues a request on the progress thread, which does not wait.
  void follow(ShardRequest it) {
    if (it.isPush() && it.number() == 0) {
      it.number(links.numbers(it).next(it.what().table()));
    }
    try {
      it.stage(staging);
    } catch (RuntimeException | Error refused) {
      settle(it);
      it.fail(
          new CommException.Broken(it.handle().words() + ": " + refused, links.rank(), refused),
          Fate.NOT_DONE);
      return;
    }
    synchronized (this) {
      it.sequence(sequence++);
      credits(it).waiting.add(it);
    }
    pump();
  }

  /// Sends waiting requests while there are credits.
  private void pump() {
    ShardRequest next = next();
    while (next != null && send(next)) {
      next = next();
    }
  }

  /// Takes the next request with credits; null if there is none.
  private synchronized @Nullable ShardRequest next() {
    ShardRequest next = next(prompt);
    return next == null ? next(awaiting) : next;
  }

  private @Nullable ShardRequest next(Credits from) {
    ShardRequest next = from.waiting.peek();
    if (next == null
        || from.open >= from.most
        || isEarly(next)
        || (from.open > 0 && from.inFlightBytes + next.bytes() > links.terms().inFlightBytes())) {
      return null;
    }
    var unused = from.waiting.poll();
    from.open++;
    from.inFlightBytes += next.bytes();
    return next;
  }

  /// Returns whether a clock must wait, because earlier pushes may still be repeated. Clocks have
  /// the lowest priority, so that other requests do not wait behind them.
  private boolean isEarly(ShardRequest it) {
    return it.what().op() == KvOp.CLOCK
        && !lost
        && !links.numbers(it).areOver(it.what().table(), it.number());
  }

  private boolean send(ShardRequest it) {
    long bytes = it.bytes();
    KvHead head = it.head(links.numbers(it).settled());
    MemorySegment words = MemorySegment.ofArray(new byte[KvHead.BYTES]);
    head.write(words);
    Consumer<RequestOutcome> receiver = outcome -> hear(it, bytes, outcome);
    var request =
        new Request(
            links.terms().kind(), words, it.payload(), it.place(), it.limitOr(links.limit()));
    if (local != null) {
      long end = channel.runner().nanos() + ClampedDuration.nanos(request.limit());
      local.accept(new LocalRequest(links.rank(), request, receiver, end));
      return true;
    }
    try {
      if (channel.tryRequest(peer, request, receiver)) {
        return true;
      }
    } catch (RuntimeException | Error refused) {
      release(it, bytes);
      settle(it);
      it.fail(
          new CommException.Broken(it.handle().words() + ": " + refused, links.rank(), refused),
          Fate.NOT_DONE);
      return true;
    }
    return postponed(it, bytes);
  }

  /// Handles a full channel, which other services share. A request that remains open here triggers
  /// the next attempt. Without one the request fails.
  private boolean postponed(ShardRequest it, long bytes) {
    synchronized (this) {
      release(it, bytes);
      if (prompt.open + awaiting.open > 0) {
        credits(it).waiting.add(it);
        return false;
      }
    }
    settle(it);
    it.fail(
        new CommException.TimedOut(
            it.handle().words()
                + ": other services have the maximum number of requests open to rank "
                + peer
                + "; wait for some of theirs",
            List.of(peer)),
        Fate.NOT_DONE);
    return true;
  }

  private synchronized void release(ShardRequest it, long bytes) {
    Credits of = credits(it);
    of.open--;
    of.inFlightBytes -= bytes;
  }

  private void settle(ShardRequest it) {
    if (it.isPush()) {
      links.numbers(it).over(it.number());
    }
  }

  private void hear(ShardRequest it, long bytes, RequestOutcome outcome) {
    release(it, bytes);
    switch (outcome) {
      case RequestOutcome.Replied(MemorySegment body, long written) -> {
        it.handle().heard(peer);
        replied(it, body, written);
      }
      case RequestOutcome.Failed(CommException cause) -> {
        boolean gone = cause instanceof CommException.PeerLost its && its.rank() == peer;
        if (gone) {
          lost = true;
        }
        it.server(peer);
        Runnable fails =
            () -> {
              settle(it);
              it.fail(cause, Fate.UNKNOWN);
            };
        if (cause instanceof CommException.TimedOut late && local != null) {
          late(it, late, Fate.DONE, "it is of this process"); // waiting requests were taken
        } else if (cause instanceof CommException.TimedOut late) {
          askWhy(it, late);
        } else if (!gone || !links.elsewhere(it, fails)) {
          fails.run();
        }
      }
    }
    pump();
  }

  /// Asks the server for the cause of a timeout. The channel does not know tables, and the request
  /// may wait for another worker.
  private void askWhy(ShardRequest it, CommException.TimedOut late) {
    What about = it.what();
    MemorySegment words = MemorySegment.ofArray(new byte[KvHead.BYTES]);
    new KvHead(
            KvOp.WHY,
            new KvHead.Target(about.shard(), about.table(), about.part(), it.ring()),
            new KvHead.Progress(0, 0, about.clock()),
            new KvHead.Listed(KvHead.Keys.NONE, 0, about.op().code(), 0))
        .write(words);
    Duration limit = links.limit().compareTo(MOST_WHY) < 0 ? links.limit() : MOST_WHY;
    var request = Request.of(links.terms().kind(), words, MemorySegment.NULL, limit);
    boolean asked;
    try {
      asked = channel.tryRequest(peer, request, told -> late(it, late, told));
    } catch (RuntimeException | Error unasked) {
      asked = false;
    }
    if (!asked) {
      late(it, late, Fate.UNKNOWN, "too many requests are open to rank " + peer);
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
        "rank " + peer + " does not report the cause; it may be stopped or overloaded");
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
          follow(it); // with the same number
          return;
        }
        refuse(it, "it does not keep the keys");
      }
      case MOVED -> {
        if (!links.moved(it, reply.text())) {
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
            "%s: rank %d has refused it: %s".formatted(it.handle().words(), peer, why)),
        Fate.NOT_DONE);
  }
}
