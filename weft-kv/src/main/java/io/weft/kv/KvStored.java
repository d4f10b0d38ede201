// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.comm.Handle;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvFunction;
import io.weft.kv.spec.TableCounts;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;

/// What a worker has registered. Any thread.
public sealed interface KvStored permits KvTable, KvTensor, KvValues {

  /// What it is.
  TableSpec spec();

  /// Registers it on all shards, once more where `KeyValueStore` has done so: this worker goes on
  /// where a restored synchronous table is.
  Handle<Void> register() throws InterruptedException;

  /// This worker's clock is one further, unless it is synchronous, where a push is a clock. Done
  /// when all shards know it; where nobody waits, the next request tells them.
  Handle<Void> clock() throws InterruptedException;

  /// Runs a function where the values are, on each shard between two requests, and joins the
  /// results. Pushes of other workers come before or behind, shard by shard.
  <R> Handle<R> call(KvFunction<R> function) throws InterruptedException;

  /// Changes it where the values are, on each shard between two requests; a push for the clocks and
  /// for what is done exactly once. Throws `IllegalStateException` if it is synchronous.
  Handle<Void> change(KvChange change) throws InterruptedException;

  /// What the servers have of it.
  Handle<TableStatistics> statistics() throws InterruptedException;

  /// What this worker has counted so far.
  TableCounts counts();
}
