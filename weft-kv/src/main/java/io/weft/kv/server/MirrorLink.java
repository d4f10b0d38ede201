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

/// The way of a shard to its mirror: what is forwarded arrives in order, and what waits for its
/// arrival goes on when the mirror has answered, or cannot any more. Confined to the shard's
/// thread.
final class MirrorLink {

  /// Longest head: that of the worker's request, and which worker it is.
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
  private boolean ended;

  /// @param peer rank of the mirror
  /// @param onThread runs something on the shard's thread, from any
  MirrorLink(int shard, int peer, ShardContext context, Consumer<Runnable> onThread) {
    this.shard = shard;
    this.peer = peer;
    this.context = context;
    this.onThread = onThread;
  }

  /// Hears when the mirror has done what was forwarded.
  @FunctionalInterface
  interface Arrival {

    /// @param refusal why it has not, and whoever asked must hear that; null = it has, or it is
    ///   lost
    void over(@Nullable String refusal);
  }

  private record Forward(
      MemorySegment head, @Nullable TensorLease payload, long bytes, Arrival arrival) {}

  int peer() {
    return peer;
  }

  /// Whether the mirror gets nothing more.
  boolean isEnded() {
    return ended;
  }

  /// Whether so little waits that rows may be copied.
  boolean hasRoom() {
    return waiting.size() < MOST_WAITING;
  }

  /// How many requests were forwarded.
  long forwarded() {
    return forwarded;
  }

  /// Whether all is answered.
  boolean isIdle() {
    return waiting.isEmpty() && open == 0;
  }

  /// Whether something waits for room in the channel, of which nothing tells.
  boolean isBlocked() {
    return !waiting.isEmpty() && open == 0;
  }

  /// Sends it behind all before it.
  ///
  /// @param worker position of whose request it is
  /// @param bytes of the payload, which `fill` writes
  /// @param arrival hears once, on the shard's thread
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
        arrival.over("there is no memory to forward it from: " + refused.getMessage());
        return;
      }
      fill.accept(lease.view().data().asSlice(0, bytes));
    }
    forwarded++;
    waiting.add(new Forward(words, lease, bytes, arrival));
    flush();
  }

  /// Sends what there is room for.
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

  /// On the progress thread.
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
        // Else it is this rank that is no longer of the job, and must acknowledge nothing: who has
        // asked hears that, and asks the mirror.
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

  /// The mirror is lost, or shall not become one: it gets nothing more, and what waits for it goes
  /// on. Never for a mirror that has everything and is there: it would take over what it lacks.
  void end(String why) {
    if (ended) {
      return;
    }
    ended = true;
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
