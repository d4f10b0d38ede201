// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.frame.KvHead;
import io.weft.kv.spec.Replicas;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A server to which the primary copies a shard while it serves it. It receives the copied content
/// and the operations that the primary executes meanwhile. It becomes the mirror when it has the
/// whole shard, or, if the copy is part of a change of the replica set, when it adopts the new set.
/// Confined to the shard's thread.
final class CopyingRole implements ShardRole {

  private static final Logger LOG = LoggerFactory.getLogger(CopyingRole.class);

  private final ShardContent content;
  private final MirrorRole mirror;

  /// The rank of the primary.
  private final int from;

  private @Nullable Replicas proposed;

  /// The number of the primary's requests that were executed since it began to copy.
  private long executed;

  private boolean whole;

  /// @param mirror executes the primary's operations, and is the role after the copy
  /// @param from rank of the primary; `NONE` for a server to which nothing is copied
  /// @param proposed the next replica set, in which this server is to have the shard; null if it
  ///   has the shard in the current one
  CopyingRole(ShardContent content, MirrorRole mirror, int from, @Nullable Replicas proposed) {
    this.content = content;
    this.mirror = mirror;
    this.from = from;
    this.proposed = proposed;
  }

  int from() {
    return from;
  }

  @Override
  public boolean isWhole() {
    return whole;
  }

  /// Returns the proposed replica set, if this server has the whole shard but has not received the
  /// announcement; otherwise null.
  @Nullable Replicas proposed() {
    return whole ? proposed : null;
  }

  /// Returns the role in an adopted replica set in which this server is not the primary.
  ShardRole adopted() {
    proposed = null;
    return whole ? mirror : this;
  }

  /// Counts the request by which the primary began to copy.
  void begun() {
    executed = 1;
  }

  @Override
  public ShardRole mirror(Pending it) throws Refusal {
    KvHead head = it.head();
    ShardTables tables = content.tables();
    switch (head.op()) {
      case STATE -> tables.takeState(it);
      case COPY -> tables.takeCopy(it);
      case KEEP -> content.pushes().takeKept(it, tables.known(head));
      case WINDOW -> {
        ShardTables.checkPayload(it, NumberWindow.EXPORT_BYTES);
        content.pushes().take(it.worker(), it.payload());
      }
      case COMPLETE -> complete(it);
      default -> {
        ShardRole unused = mirror.mirror(it);
        count(it);
        return this;
      }
    }
    it.done(0);
    count(it);
    return whole && proposed == null ? mirror : this;
  }

  private void count(Pending it) {
    if (it.fromRank() == from) {
      executed++;
    }
  }

  /// Completes the copy, if the number of executed requests equals the number in the payload.
  private void complete(Pending it) throws Refusal {
    ShardTables.checkPayload(it, Long.BYTES);
    int sender = it.fromRank();
    long requests = it.payload().get(JAVA_LONG_UNALIGNED, 0);
    if (sender != from || executed != requests) {
      throw new Refusal(
          "rank %d has sent the shard in %d requests, but %d were executed here; it is incomplete"
              .formatted(sender, requests, sender == from ? executed : 0));
    }
    whole = true;
    LOG.info(
        "rank {} has all of shard {} and mirrors it", content.context().rank(), it.head().shard());
  }
}
