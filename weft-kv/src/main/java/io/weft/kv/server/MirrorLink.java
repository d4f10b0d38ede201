// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvReply;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The connection of a shard to its mirror. Forwarded requests arrive in order. Operations that
/// wait for an arrival continue when the mirror has answered, or can no longer answer. Confined to
/// the shard's thread.
final class MirrorLink {

  /// The length of a forwarded request's head: the worker's own head, and the worker's position.
  static final int HEAD_BYTES = KvHead.BYTES + Integer.BYTES;

  private static final Logger LOG = LoggerFactory.getLogger(MirrorLink.class);
  private static final int MOST_OPEN = 128;
  private static final int MOST_WAITING = 32;

  private final int shard;
  private final int peer;
  private final ShardContext context;
  private final Consumer<Runnable> onThread;
  private final ArrayDeque<Forward> waiting = new ArrayDeque<>();
  private int open;
  private long forwarded;
  private long forwardedBytes;
  private Consumer<String> whenEnded = why -> {};
  private boolean ended;

  /// @param peer rank of the mirror
  /// @param onThread runs an action on the shard's thread, from any thread
  MirrorLink(int shard, int peer, ShardContext context, Consumer<Runnable> onThread) {
    this.shard = shard;
    this.peer = peer;
    this.context = context;
    this.onThread = onThread;
  }

  /// The callback for the outcome of a forwarded request on the mirror.
  @FunctionalInterface
  interface Arrival {

    /// @param refusal the reason why the mirror has not executed it, which the requester must
    ///   receive; null if it has, or is lost
    void over(@Nullable String refusal);
  }

  private record Forward(
      MemorySegment head, @Nullable TensorLease payload, long bytes, Arrival arrival) {}

  int peer() {
    return peer;
  }

  boolean isEnded() {
    return ended;
  }

  /// Returns whether the queue has room for rows to copy.
  boolean hasRoom() {
    return waiting.size() < MOST_WAITING;
  }

  long forwarded() {
    return forwarded;
  }

  /// Returns the bytes of the payloads of all forwarded requests.
  long forwardedBytes() {
    return forwardedBytes;
  }

  /// Sets the action that `end` runs with its reason.
  void whenEnded(Consumer<String> action) {
    whenEnded = action;
  }

  /// Returns whether all requests are answered.
  boolean isIdle() {
    return waiting.isEmpty() && open == 0;
  }

  /// Returns whether requests wait for room in the channel and no answer is due, so that only
  /// another call of `flush` sends them.
  boolean isBlocked() {
    return !waiting.isEmpty() && open == 0;
  }

  /// Sends a request after all earlier ones.
  ///
  /// @param worker position of the worker of the request
  /// @param bytes of the payload, which `fill` writes
  /// @param arrival is notified once, on the shard's thread
  void forward(KvHead head, int worker, long bytes, Consumer<MemorySegment> fill, Arrival arrival) {
    if (ended) {
      arrival.over(null);
      return;
    }
    MemorySegment words = MemorySegment.ofArray(new byte[HEAD_BYTES]);
    head.write(words.asSlice(0, KvHead.BYTES));
    words.set(JAVA_INT_UNALIGNED, KvHead.BYTES, worker);
    TensorLease lease = null;
    if (bytes > 0) {
      try {
        lease = context.mirroring().staging().lease(bytes);
      } catch (RuntimeException | Error refused) {
        arrival.over("it cannot be forwarded for lack of memory: " + refused.getMessage());
        return;
      }
      fill.accept(lease.view().data().asSlice(0, bytes));
    }
    forwarded++;
    forwardedBytes += bytes;
    waiting.add(new Forward(words, lease, bytes, arrival));
    flush();
  }

  /// Sends waiting requests while there is room.
  void flush() {
    while (!ended && open < MOST_OPEN && !waiting.isEmpty()) {
      Forward next = waiting.getFirst();
      TensorLease lease = next.payload();
      MemorySegment payload =
          lease == null ? MemorySegment.NULL : lease.view().data().asSlice(0, next.bytes());
      Mirroring by = context.mirroring();
      var request = new Request(by.kind(), next.head(), payload, null, by.limit());
      if (!by.channel().tryRequest(peer, request, outcome -> hear(next, outcome))) {
        return;
      }
      waiting.remove();
      open++;
    }
  }

  /// Processes an outcome. On the progress thread.
  private void hear(Forward sent, RequestOutcome outcome) {
    switch (outcome) {
      case RequestOutcome.Replied(MemorySegment body, long written) -> {
        String refusal = refusal(body);
        onThread.accept(() -> over(sent, false, refusal));
      }
      case RequestOutcome.Failed(CommException cause) -> {
        String why = String.valueOf(cause.getMessage());
        boolean lost = cause instanceof CommException.PeerLost gone && gone.rank() == peer;
        boolean refused =
            cause instanceof CommException.TimedOut
                || (cause instanceof CommException.Aborted by && by.culprit() >= 0);
        // Otherwise this rank itself has left the job, and must acknowledge nothing. The requester
        // learns of this and sends its request to the mirror.
        onThread.accept(lost || refused ? () -> over(sent, lost, why) : () -> free(sent));
      }
    }
  }

  private static @Nullable String refusal(MemorySegment body) {
    try {
      KvReply reply = KvReply.read(body);
      return reply.status() == KvReply.Status.DONE ? null : reply.status() + " " + reply.text();
    } catch (IllegalArgumentException wrong) {
      return wrong.getMessage();
    }
  }

  private void free(Forward sent) {
    open--;
    TensorLease lease = sent.payload();
    if (lease != null) {
      lease.close();
    }
  }

  private void over(Forward sent, boolean lost, @Nullable String failure) {
    free(sent);
    if (lost) {
      end(String.valueOf(failure));
    }
    boolean refused = failure != null && !ended;
    sent.arrival().over(refused ? "its mirror, rank " + peer + ": " + failure : null);
    flush();
  }

  /// Ends the link to a mirror that is lost or must not become one. Waiting operations continue
  /// without it. A live mirror that has the whole shard must keep its link, because it could later
  /// serve the shard without those operations.
  void end(String why) {
    if (ended) {
      return;
    }
    ended = true;
    whenEnded.accept(why);
    LOG.warn(
        "shard {} of rank {} has no mirror on rank {} any more: {}",
        shard,
        context.rank(),
        peer,
        why);
    while (!waiting.isEmpty()) {
      Forward each = waiting.remove();
      TensorLease lease = each.payload();
      if (lease != null) {
        lease.close();
      }
      each.arrival().over(null);
    }
  }
}
