// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

/// A function that changes a table on its servers. It runs on each shard, on the thread that owns
/// the shard. It is numbered like a push: each shard runs it exactly once despite losses, and a
/// mirror runs it at the same position among the pushes. Servers find it by its name, so all ranks
/// must register a custom change by `KvOptions.withChange`.
///
/// Its effect must depend only on its argument and on the values of the same shard, so that primary
/// and mirror compute the same bits. It must use no clock, no random numbers and no state, and must
/// not depend on the order in which rows are visited. It may read other tables, except synchronous
/// ones. Stateless.
public interface KvChange {

  /// The maximum length of an argument in bytes.
  int MOST_BYTES = KvFunction.MOST_BYTES;

  /// Returns the name by which servers find the change, 1 to 100 bytes of UTF-8.
  String name();

  /// Returns the argument of `run`.
  byte[] argument();

  /// Changes the shard's values. It blocks the thread of the shard. The caller receives a thrown
  /// exception. Changes made before the exception remain, on both servers.
  ///
  /// @param argument the caller's argument, which may differ from that of this object
  void run(ShardChanges shard, byte[] argument);
}
