// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.comm.CommException;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvReply;
import io.weft.kv.spec.Replicas;
import io.weft.kv.worker.LocalRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A request to a shard, from its arrival to its answer. The observers of the server are notified
/// of the execution and the answer of a worker's request; its operation ends before the answer is
/// sent. One thread at a time.
final class Pending implements ShardAgent.Task {

  private final IncomingRequest request;
  private final KvHead head;
  private final int worker;
  private final @Nullable TableOperation operation;
  private boolean begun;
  private boolean ended;

  /// @param worker position of the requester among the workers; -1 if it is not a worker
  /// @param operation for the observers; null for an operation that another server has executed
  Pending(IncomingRequest request, KvHead head, int worker, @Nullable TableOperation operation) {
    this.request = request;
    this.head = head;
    this.worker = worker;
    this.operation = operation;
  }

  /// Returns whether another server has executed it and forwards it.
  boolean isForwarded() {
    return operation == null;
  }

  KvHead head() {
    return head;
  }

  /// Returns the position of the requester among the workers; -1 if it is not a worker.
  int worker() {
    return worker;
  }

  int fromRank() {
    return request.fromRank();
  }

  MemorySegment payload() {
    return request.payload();
  }

  /// Returns the number of bytes that the answer may write into the requester's memory.
  long intoBytes() {
    return request.intoBytes();
  }

  /// Reports that the shard executes the request now. Only the first call counts.
  void begun() {
    if (operation != null && !begun) {
      begun = true;
      operation.begun();
    }
  }

  /// Answers that the request is done.
  void done(long applied) {
    reply(KvReply.done(applied).encode());
  }

  /// Answers that the shard does not have the request's list of keys.
  void unknownList() {
    reply(KvReply.unknownList().encode());
  }

  /// Answers that other servers have the shard.
  void moved(Replicas ring) {
    reply(KvReply.moved(ring.text()).encode());
  }

  void reply(MemorySegment body) {
    if (operation != null) {
      operation.answers(KvReply.valueBytes(body));
      end(operation, failure(body));
    }
    request.reply(body);
  }

  /// Writes into the requester's memory, then replies.
  void reply(MemorySegment body, MemorySegment written, Runnable release) {
    if (operation != null) {
      operation.answers(written.byteSize());
      end(operation, failure(body));
    }
    request.reply(body, written, release);
  }

  void fail(String why) {
    aborted(why);
    request.fail(why);
  }

  /// Returns whether the request is of this process's worker and has waited for longer than its
  /// limit.
  boolean isOverdue(long nowNanos) {
    return request instanceof LocalRequest local && local.isOverdue(nowNanos);
  }

  /// Fails an overdue request with a timeout.
  void expire(String why) {
    if (request instanceof LocalRequest local) {
      aborted(why);
      local.expire(why);
    }
  }

  private void aborted(String why) {
    if (operation != null) {
      end(operation, new CommException.Aborted(operation.name() + ": " + why, null));
    }
  }

  private void end(TableOperation its, @Nullable CommException failure) {
    if (!ended) {
      ended = true;
      its.ended(failure);
    }
  }

  private static @Nullable CommException failure(MemorySegment body) {
    return switch (KvReply.statusOf(body)) {
      case DONE, VALUES -> null;
      case UNKNOWN_LIST -> new CommException.Mismatch("the shard does not have the list of keys");
      case REFUSED, MOVED, ENDED -> new CommException.Mismatch(KvReply.read(body).text());
    };
  }
}
