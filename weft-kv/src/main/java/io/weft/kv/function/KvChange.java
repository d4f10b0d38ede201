// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

/// A function that changes a table where its values are, on each shard, on the thread that owns the
/// shard. It is numbered as a push: each shard runs it once, whatever is lost on the way, and a
/// mirror runs it too, at the same place among the pushes. Servers know it by its name:
/// `KvOptions.withChange` on all ranks.
///
/// What it does must follow from its argument and from the values of the same shard alone, so that
/// both servers of a shard come to the same bits: no clock, no chance, no state, and nothing that
/// depends on the order in which rows are shown. It may read other tables, but no synchronous one.
/// Stateless.
public interface KvChange {

  /// Most bytes of an argument.
  int MOST_BYTES = KvFunction.MOST_BYTES;

  /// By which servers find it: one line of 1 to 100 characters.
  String name();

  /// What `run` is given at the servers.
  byte[] argument();

  /// Changes what the shard has. While it runs, the shard's thread does nothing else. What it
  /// throws is the answer to its caller; what it has changed before stays, on both servers.
  ///
  /// @param argument of the caller's, which may be another than that of this object
  void run(ShardChanges shard, byte[] argument);
}
