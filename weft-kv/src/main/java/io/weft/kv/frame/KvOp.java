// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

import java.util.Locale;

/// The operations of a shard.
public enum KvOp {
  /// Registers a table. The payload is its specification.
  REGISTER(0),
  /// Changes rows or a part by values.
  PUSH(1),
  /// Returns rows or a part.
  PULL(2),
  /// A push, then a pull.
  PUSH_PULL(3),
  /// Advances a worker's clock.
  CLOCK(4),
  /// Returns, without values, when a pull of this clock would be answered.
  WAIT(5),
  /// Stops the application of further clocks, because a checkpoint begins.
  HOLD(6),
  /// Writes the table as of this clock to a file.
  CUT(7),
  /// Resumes the application of clocks.
  RELEASE(8),
  /// Restores a checkpoint's content of a table.
  LOAD(9),
  /// Sets the first values of a tensor's part. Only the first worker sends values, and the other
  /// workers wait for them.
  INIT(10),
  /// To a mirror: buffers a push until the pushes of other workers arrive.
  KEEP(11),
  /// To a mirror: the push numbers received from a worker.
  WINDOW(12),
  /// To a mirror: a worker has left, and no request waits for it any more.
  LEAVE(13),
  /// To a mirror: the copy is complete.
  COMPLETE(14),
  /// To a mirror: clock and step of rows or of a tensor's part.
  STATE(15),
  /// To a mirror: rows, or elements of a part.
  COPY(16),
  /// Returns the statistics of a table on the shard as the text of the reply.
  STATISTICS(17),
  /// Runs a function on a shard's values of a table. The payload is its name and argument.
  CALL(18),
  /// Runs a change on a shard's values of a table, numbered like a push. The payload is its name
  /// and argument.
  CHANGE(19),
  /// A text command to a server, independent of any table. The answer is the text of the reply.
  COMMAND(20),
  /// To a server: another process takes a server's place. Independent of any shard; `part` is one
  /// more than the position in the replica set.
  RETURN(21),
  /// To a server: discards its content of a shard, which will be copied to it. The payload is the
  /// replica set in which it is to have the shard.
  BEGIN(22),
  /// To a server or worker: announces the new replica set of a shard, which is the payload.
  RING(23),
  /// Ends a synchronous table on all shards. The payload is the reason.
  END(24),
  /// Returns the cause of an overdue request's wait, and whether the push of its worker at this
  /// clock was taken. `digestHigh` is the operation of that request.
  WHY(25),
  /// To a mirror: rows were evicted. The payload contains their keys.
  EVICT(26),
  /// Changes parameters of a table's update rule from a step on. The payload is a line of
  /// `RuleSchedule.Change`, the clock that of the worker.
  RULE(27),
  /// Sets rows to given values, numbered like a push. `part` is 0, or, if the rows contain slots,
  /// one more than the table's least step afterwards.
  INSERT(28),
  /// Removes rows, numbered like a push.
  REMOVE(29),
  /// Writes all rows of the table as of this clock to a file, as `CUT` does. Later checkpoints do
  /// not depend on it.
  EXPORT(30),
  /// Returns rows of several tables. The payload is that of `TableKeys`, and the values are the
  /// clock to report of each table, 8 bytes each, and then the rows.
  PULL_TABLES(31);

  private static final KvOp[] ALL = values();

  private final byte code;

  KvOp(int code) {
    this.code = (byte) code;
  }

  /// Returns the operation of this number. Throws `IllegalArgumentException` for an unknown number.
  public static KvOp of(long number) {
    if (number < 0 || number >= ALL.length) {
      throw new IllegalArgumentException("operation " + number);
    }
    return ALL[(int) number];
  }

  /// Returns whether a worker numbers the operation, so that a shard executes it once.
  public boolean isNumbered() {
    return this == PUSH || this == PUSH_PULL || this == CHANGE || editsRows();
  }

  /// Returns whether the operation sets or removes rows without counting as a push.
  public boolean editsRows() {
    return this == INSERT || this == REMOVE;
  }

  /// Returns the name of the operation in timelines and metrics.
  public String word() {
    return switch (this) {
      case CUT -> "checkpoint";
      case LOAD -> "restore";
      default -> name().toLowerCase(Locale.ROOT).replace('_', '-');
    };
  }

  /// Returns the number on the wire.
  public byte code() {
    return code;
  }
}
