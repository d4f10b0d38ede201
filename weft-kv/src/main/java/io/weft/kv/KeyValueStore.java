// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.WorkerLinks;
import io.weft.kv.worker.WorkerLinks.Terms;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/// The worker's side of a parameter server. Any thread.
public final class KeyValueStore {

  private final Layout layout;
  private final WorkerLinks links;
  private final Communicator workers;
  private final List<KvTable> tables = new CopyOnWriteArrayList<>();

  KeyValueStore(Weft weft, Layout layout, KvOptions options, @Nullable KvServer local) {
    this.layout = layout;
    this.workers = weft.communicator(new ProcessSet(layout.workers()));
    Duration limit = options.deadline().orElse(weft.config().deadline());
    this.links =
        new WorkerLinks(
            weft.channel(),
            new Terms(
                weft.rank(),
                layout.kind(),
                layout.shards(),
                weft.config().required(KvConfig.IN_FLIGHT),
                limit),
            layout::serverOf,
            KeyValue.staging(weft),
            local == null ? null : local::serve);
  }

  /// The table of this name, on all shards. All workers register the same; one that differs is
  /// refused by `CommException.Mismatch` with both. Waits for the servers, at most the deadline.
  public KvTable register(TableSpec spec) throws InterruptedException {
    var table = new KvTable(links, spec);
    table.register();
    tables.add(table);
    return table;
  }

  /// The worker's clock is one further in all tables of bounded staleness that it has registered.
  /// What it has pushed before is seen by those who pull at this clock.
  public void clock() throws InterruptedException {
    for (KvTable each : tables) {
      if (each.spec().consistency().staleness() > 0) {
        each.clock().await();
      }
    }
  }

  /// Waits until all workers have called it, at most the job's deadline.
  public void barrier() throws InterruptedException {
    var unused = workers.barrier(CollectiveOptions.named("kv/barrier")).await();
  }

  /// Collectives over the workers.
  public Communicator workers() {
    return workers;
  }

  /// How many shards there are.
  public int shards() {
    return layout.shards();
  }
}
