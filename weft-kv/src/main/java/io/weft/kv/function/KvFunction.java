// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.function;

import java.util.List;

/// A function that runs on each shard of a table, on the thread that owns the shard, and whose
/// results are joined at the worker that has called it (Angel's psFunc). Servers know it by its
/// name: `KvOptions.withFunction` on all ranks. Stateless.
///
/// @param <R> the result
public interface KvFunction<R> {

  /// Most bytes of an argument, and of the result of one shard.
  int MOST_BYTES = 512;

  /// By which servers find it: one line of 1 to 100 characters.
  String name();

  /// What `run` is given at the servers.
  byte[] argument();

  /// Reads what the shard has. While it runs, the shard's thread does nothing else. At most
  /// `MOST_BYTES` long. What it throws is the answer to its caller, and ends nothing else.
  ///
  /// @param argument of the caller's, which may be another than that of this object
  byte[] run(ShardValues shard, byte[] argument);

  /// The result, of those of all shards, in their order. On the worker.
  R join(List<byte[]> results);
}
