// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.comm.Handle;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvFunction;
import io.weft.kv.spec.TableCounts;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;
import io.weft.kv.worker.TableClock;
import java.util.Objects;

/// What a worker has registered. Any thread.
public abstract sealed class KvStored permits KvTable, KvTensor, KvValues {

  private final TableSpec spec;
  private final TableClock all;

  /// @param all what is asked of all its shards
  KvStored(TableSpec spec, TableClock all) {
    this.spec = spec;
    this.all = all;
  }

  /// What it is.
  public final TableSpec spec() {
    return spec;
  }

  /// Registers it on all shards, once more where `KeyValueStore` has done so: this worker goes on
  /// where a restored synchronous table is.
  public final Handle<Void> register() throws InterruptedException {
    return all.register();
  }

  /// This worker's clock is one further, unless it is synchronous, where a push is a clock. Done
  /// when all shards know it; where nobody waits, the next request tells them.
  public final Handle<Void> clock() throws InterruptedException {
    return all.advance();
  }

  /// Runs a function where the values are, on each shard between two requests, and joins the
  /// results. Pushes of other workers come before or behind, shard by shard.
  public final <R> Handle<R> call(KvFunction<R> function) throws InterruptedException {
    return all.call(function);
  }

  /// Changes it where the values are, on each shard between two requests; a push for the clocks and
  /// for what is done exactly once. Throws `IllegalStateException` if it is synchronous.
  public final Handle<Void> change(KvChange change) throws InterruptedException {
    return all.change(Objects.requireNonNull(change, "change"));
  }

  /// What the servers have of it.
  public final Handle<TableStatistics> statistics() throws InterruptedException {
    return all.statistics();
  }

  /// What this worker has counted so far.
  public final TableCounts counts() {
    return all.counts();
  }
}
