// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvReply;
import io.weft.kv.spill.RowStoreException;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A server to which a shard's operations are forwarded, together with the copy of the shard until
/// it is complete. Forwarded requests arrive in order. Operations that wait for an arrival continue
/// when the mirror has answered, or can no longer answer. Confined to the shard's thread.
final class Mirror {

  /// The length of a forwarded request's head: the worker's own head, and the worker's position.
  static final int HEAD_BYTES = KvHead.BYTES + Integer.BYTES;

  private static final Logger LOG = LoggerFactory.getLogger(Mirror.class);
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
  private boolean ended;

  /// The rest of the copy; null if all of it has been sent.
  private @Nullable ShardCopy copy;

  private boolean whole = true;

  /// The copying of the shard for the observers, until it has ended.
  private @Nullable TableOperation copying;

  /// Creates a mirror that has the whole shard.
  ///
  /// @param peer rank of the mirror
  /// @param onThread runs an action on the shard's thread, from any thread
  Mirror(int shard, int peer, ShardContext context, Consumer<Runnable> onThread) {
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

  /// Returns whether operations are still forwarded to it.
  boolean isLive() {
    return !ended;
  }

  /// Returns whether it has confirmed that it has the whole shard.
  boolean isWhole() {
    return whole;
  }

  long forwarded() {
    return forwarded;
  }

  /// Returns whether all requests are answered.
  boolean isIdle() {
    return waiting.isEmpty() && open == 0;
  }

  // --- the copy of the shard

  /// Begins to copy the shard, which the mirror does not have.
  ///
  /// @param operation for the observers; ends with the copy
  void copy(ShardCopy its, TableOperation operation) {
    whole = false;
    copy = its;
    copying = operation;
    if (ended) {
      copyEnded("the copy could not begin");
    }
  }

  /// Sends the rest of the copy now, because the next operation reads it on the mirror.
  void finishCopy() {
    ShardCopy under = copy;
    if (under == null) {
      return;
    }
    while (!ended && !under.advance()) {
      // each call emits some rows
    }
    endCopy(under);
  }

  private void endCopy(ShardCopy under) {
    under.complete(
        () -> {
          whole = true;
          copyEnded(null);
        });
    closeCopy();
  }

  private void closeCopy() {
    ShardCopy under = copy;
    copy = null;
    if (under != null) {
      under.close();
    }
  }

  /// @param failure the reason why it is not complete; null if it is
  private void copyEnded(@Nullable String failure) {
    TableOperation operation = copying;
    copying = null;
    if (operation != null) {
      operation.answers(forwardedBytes);
      operation.ended(failure == null ? null : new CommException.Aborted(failure, null));
    }
  }

  /// Returns whether there is something to copy or send, or the mirror has not confirmed that it
  /// has the whole shard. Requests that wait for room in the channel are sent by another call of
  /// `slice` if no answer is due.
  boolean isBusy() {
    boolean isBlocked = !waiting.isEmpty() && open == 0;
    return copy != null || (!ended && (!whole || isBlocked));
  }

  /// Copies some rows. Returns whether there was room for them.
  boolean slice() {
    flush();
    ShardCopy under = copy;
    if (under == null) {
      return false;
    }
    if (ended) {
      closeCopy();
      return true;
    }
    if (waiting.size() >= MOST_WAITING) {
      return false;
    }
    try {
      if (under.advance()) {
        endCopy(under);
      }
    } catch (RowStoreException unread) {
      end(String.valueOf(unread.getMessage()));
    }
    return true;
  }

  // --- forwarded requests

  /// Forwards an operation after the rows that were copied before it. `arrival` is notified when
  /// the mirror has executed it, or at once if nothing is forwarded any more.
  void forward(KvHead head, int worker, long bytes, Consumer<MemorySegment> fill, Arrival arrival) {
    ShardCopy under = copy;
    if (under != null && !ended) {
      under.flush(); // rows as they were before the operation
    }
    send(head, worker, bytes, fill, arrival);
  }

  /// Sends a request after all earlier ones.
  ///
  /// @param worker position of the worker of the request
  /// @param bytes of the payload, which `fill` writes
  /// @param arrival is notified once, on the shard's thread
  void send(KvHead head, int worker, long bytes, Consumer<MemorySegment> fill, Arrival arrival) {
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
        lease = context.mirroring().staging().apply(bytes);
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
  private void flush() {
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
      stop(String.valueOf(failure));
    }
    boolean refused = failure != null && !ended;
    sent.arrival().over(refused ? "its mirror, rank " + peer + ": " + failure : null);
    flush();
  }

  /// Stops forwarding to a mirror that is lost or must not become one. Waiting operations continue
  /// without it. A live mirror that has the whole shard must not be ended, because it could later
  /// serve the shard without those operations.
  void end(String why) {
    stop(why);
    closeCopy();
  }

  /// Stops forwarding, as `end`, during a step of the copy, which the next `slice` closes.
  void stop(String why) {
    if (ended) {
      return;
    }
    ended = true;
    copyEnded("the copy was not completed: " + why);
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
