// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

import java.util.List;

/// A function that runs on each shard of a table, on the thread that owns the shard, and whose
/// results are joined at the calling worker (Angel's psFunc). Servers find it by its name, so all
/// ranks must register a custom function by `KvOptions.withFunction`. Stateless.
///
/// @param <R> the result
public interface KvFunction<R> {

  /// The maximum length of an argument, and of the result of one shard, in bytes.
  int MOST_BYTES = 512;

  /// Returns the name by which servers find the function, 1 to 100 bytes of UTF-8.
  String name();

  /// Returns the argument of `run`.
  byte[] argument();

  /// Reads the shard's values and returns a result of at most `MOST_BYTES`. While it runs, the
  /// shard's thread does nothing else. The caller receives a thrown exception, which has no other
  /// effect.
  ///
  /// @param argument the caller's argument, which may differ from that of this object
  byte[] run(ShardValues shard, byte[] argument);

  /// Returns the final result of the results of all shards, in the order of shards. Runs on the
  /// worker.
  R join(List<byte[]> results);
}
