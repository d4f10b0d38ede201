// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.cluster.channel.IncomingRequest;
import io.weft.comm.CommException;
import io.weft.kv.event.TableOperation;
import io.weft.kv.frame.KvReply;
import io.weft.kv.worker.LocalRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A worker's request whose execution and answer the observers of the server are notified of. The
/// operation ends before the answer is sent.
public final class ObservedRequest implements IncomingRequest {

  private final IncomingRequest request;
  private final TableOperation operation;
  private boolean begun;
  private boolean ended;

  ObservedRequest(IncomingRequest request, TableOperation operation) {
    this.request = request;
    this.operation = operation;
  }

  /// Reports that the shard executes the request now. Only the first call counts.
  void begun() {
    if (!begun) {
      begun = true;
      operation.begun();
    }
  }

  @Override
  public int fromRank() {
    return request.fromRank();
  }

  @Override
  public MemorySegment head() {
    return request.head();
  }

  @Override
  public MemorySegment payload() {
    return request.payload();
  }

  @Override
  public long intoBytes() {
    return request.intoBytes();
  }

  @Override
  public void reply(MemorySegment body) {
    operation.answers(KvReply.valueBytes(body));
    end(failure(body));
    request.reply(body);
  }

  @Override
  public void reply(MemorySegment body, MemorySegment written, Runnable release) {
    operation.answers(written.byteSize());
    end(failure(body));
    request.reply(body, written, release);
  }

  @Override
  public void fail(String why) {
    end(new CommException.Aborted(operation.name() + ": " + why, null));
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
      end(new CommException.Aborted(operation.name() + ": " + why, null));
      local.expire(why);
    }
  }

  private static @Nullable CommException failure(MemorySegment body) {
    return switch (KvReply.statusOf(body)) {
      case DONE, VALUES -> null;
      case UNKNOWN_LIST -> new CommException.Mismatch("the shard does not have the list of keys");
      case REFUSED, MOVED, ENDED -> new CommException.Mismatch(KvReply.read(body).text());
    };
  }

  private void end(@Nullable CommException failure) {
    if (!ended) {
      ended = true;
      operation.ended(failure);
    }
  }
}
