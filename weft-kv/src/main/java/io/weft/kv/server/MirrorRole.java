// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.KvHead;
import io.weft.kv.server.ShardTable.Subject;
import java.lang.foreign.MemorySegment;

/// The mirror of a shard, which executes the requests that the primary forwards, in the same order.
/// Confined to the shard's thread.
final class MirrorRole implements ShardRole {

  private final ShardContent content;

  MirrorRole(ShardContent content) {
    this.content = content;
  }

  @Override
  public boolean isWhole() {
    return true;
  }

  @Override
  public ShardRole mirror(Pending it) throws Refusal {
    KvHead head = it.head();
    ShardTables tables = content.tables();
    long applied = 0;
    switch (head.op()) {
      case REGISTER -> applied = tables.register(it);
      case PUSH, INSERT, REMOVE -> {
        push(it);
        return this;
      }
      case CLOCK -> content.clock(it);
      case LOAD -> tables.load(it);
      case INIT -> init(it);
      case CHANGE -> change(it);
      case RULE -> content.rule(it);
      case LEAVE -> content.leave(it.worker());
      case END -> content.end(it);
      case EVICT -> tables.known(head).remove(it.payload());
      default -> throw new Refusal(head.op() + " is not an operation of a mirror");
    }
    it.done(applied);
    return this;
  }

  private void push(Pending it) throws Refusal {
    ShardTable table = content.tables().of(it.head());
    Subject subject = table.read(it);
    if (subject == null) {
      it.unknownList();
      return;
    }
    MemorySegment values = table.values(it.head(), subject, it.payload());
    it.done(content.pushes().push(it, table, subject, values));
  }

  private void init(Pending it) throws Refusal {
    if (!content.init(it)) {
      throw new Refusal("the first values of the first worker are not here");
    }
  }

  private void change(Pending it) throws Refusal {
    ShardTable table = content.changing(it);
    String failure = content.pushes().isNew(it) ? content.calls().change(it, table) : null;
    if (failure != null) {
      throw new Refusal(failure);
    }
  }
}
