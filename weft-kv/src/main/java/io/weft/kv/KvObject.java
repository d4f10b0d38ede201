// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.comm.Handle;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvFunction;
import io.weft.kv.rule.RuleSchedule;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.TableCounts;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;
import io.weft.kv.worker.TableClock;
import java.util.Map;
import java.util.Objects;

/// A table or tensor that a worker has registered. Any thread.
public abstract sealed class KvObject permits KvTable, KvTensor, KvValues {

  private final TableSpec spec;
  private final TableClock all;

  /// @param all the requests to all its shards
  KvObject(TableSpec spec, TableClock all) {
    this.spec = spec;
    this.all = all;
  }

  /// Returns the specification.
  public final TableSpec spec() {
    return spec;
  }

  /// Registers the table again on all shards. `KvWorker` has already registered it once. After a
  /// restore of a synchronous table, this sets the worker's clock to that of the checkpoint.
  public final Handle<Void> register() throws InterruptedException {
    return all.register();
  }

  /// Advances this worker's clock, unless the table is synchronous, where each push advances it.
  /// The handle is done when all shards know the clock. In an asynchronous table the next request
  /// carries the clock instead.
  public final Handle<Void> clock() throws InterruptedException {
    return all.advance();
  }

  /// Changes parameters of the update rule while the training runs, such as
  /// `lr=0.01,decay=1e-4,clip=1`, from this worker's next push on. See the other method.
  public final Handle<Void> changeRule(String parameters) throws InterruptedException {
    return changeRule(parameters, all.nextPush());
  }

  /// Changes parameters of the update rule from a step on. The other parameters, and the slots of
  /// all values, remain. One worker calls it. The handle is done when all shards and their mirrors
  /// know the change; a checkpoint contains it.
  ///
  /// The step of a push is its worker's clock: 1 for the first push to a synchronous table,
  /// otherwise the number of calls of `clock` before the push. In a synchronous table a step of
  /// which a shard already has a push is not changed there. A change of a later step should thus be
  /// complete before that step begins.
  ///
  /// Throws `IllegalArgumentException` if the rule does not have such parameters, or if a parameter
  /// determines the first values of slots, such as `init`.
  ///
  /// @param step first step with these values, from 0
  public final Handle<Void> changeRule(String parameters, long step) throws InterruptedException {
    var change = new RuleSchedule.Change(step, Objects.requireNonNull(parameters, "parameters"));
    var unused = UpdateRules.changed(spec.rule(), parameters);
    return all.rule(change);
  }

  /// Runs a function on each shard, between two requests, and joins the results. On each shard a
  /// push of another worker takes effect before or after the function.
  public final <R> Handle<R> call(KvFunction<R> function) throws InterruptedException {
    return all.call(function);
  }

  /// Runs a change on each shard, between two requests. A change counts as a push for the clocks
  /// and for exactly-once execution. Throws `IllegalStateException` if the table is synchronous.
  public final Handle<Void> change(KvChange change) throws InterruptedException {
    return all.change(Objects.requireNonNull(change, "change"));
  }

  /// Returns the statistics of the table on all servers.
  public final Handle<TableStatistics> statistics() throws InterruptedException {
    return all.statistics();
  }

  /// Returns the statistics of the table by the rank of the server, for servers that have shards. A
  /// difference between servers shows an uneven distribution of the keys.
  public final Handle<Map<Integer, TableStatistics>> statisticsByServer()
      throws InterruptedException {
    return all.statisticsByServer();
  }

  /// Returns this worker's counters.
  public final TableCounts counts() {
    return all.counts();
  }
}
