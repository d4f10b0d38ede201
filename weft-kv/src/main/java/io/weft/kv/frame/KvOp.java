// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.frame;

/// What is asked of a shard.
public enum KvOp {
  /// A table is there: the payload is its specification.
  REGISTER(0),
  /// Values that change rows or a part.
  PUSH(1),
  /// Rows or a part.
  PULL(2),
  /// A push, and what is there then.
  PUSH_PULL(3),
  /// A worker's clock is one further.
  CLOCK(4),
  /// Nothing but the answer, when a pull of this clock would be answered.
  WAIT(5),
  /// No clock beyond those that were applied is applied: a checkpoint begins.
  HOLD(6),
  /// What is here when this clock was applied is written to a file.
  CUT(7),
  /// What was held goes on.
  RELEASE(8),
  /// What a checkpoint has of a table.
  LOAD(9),
  /// The first values of a tensor's part: those of the first worker, for which the others wait.
  INIT(10),
  /// To a mirror: a push that waits for those of other workers.
  KEEP(11),
  /// To a mirror: which pushes of a worker were seen.
  WINDOW(12),
  /// To a mirror: nobody waits for a worker any more.
  LEAVE(13),
  /// To a mirror: it has all there is.
  COMPLETE(14),
  /// To a mirror: clock and step of rows or of a tensor's part.
  STATE(15),
  /// To a mirror: rows, or elements of a part.
  COPY(16),
  /// What a shard has of a table; the reply's text says it.
  STATISTICS(17),
  /// A function runs on what a shard has of a table: the payload is its name and argument.
  CALL(18),
  /// A function changes what a shard has of a table, numbered as a push: the payload is its name
  /// and argument.
  CHANGE(19),
  /// A text to a server, about no table; the answer is its text.
  COMMAND(20),
  /// To a server: another process has taken a server's place, about no shard; `part` is the place
  /// in the ring.
  RETURN(21),
  /// To a server: what it has of a shard is dropped, all there is will be copied to it. The payload
  /// is the ring of servers in which it shall have the shard.
  BEGIN(22),
  /// To a server or worker: these servers have a shard from now on. The payload is their ring.
  RING(23),
  /// A synchronous table has ended, on all shards: the payload tells why.
  END(24),
  /// Tells what a request waits for that was not answered in time, and whether the push of its
  /// worker at this clock was taken. `digestHigh` is the operation of that request.
  WHY(25),
  /// To a mirror: rows have gone; the payload are their keys.
  EVICT(26);

  private static final KvOp[] ALL = values();

  private final byte code;

  KvOp(int code) {
    this.code = (byte) code;
  }

  /// The operation of this number. Throws `IllegalArgumentException` for a number of none.
  public static KvOp of(long number) {
    if (number < 0 || number >= ALL.length) {
      throw new IllegalArgumentException("operation " + number);
    }
    return ALL[(int) number];
  }

  /// Whether a worker numbers it, so that a shard does it once.
  public boolean isNumbered() {
    return this == PUSH || this == PUSH_PULL || this == CHANGE;
  }

  /// Its number on the wire.
  public byte code() {
    return code;
  }
}
