// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.kv.KeyValueStore;
import io.weft.kv.spec.TableCounts;
import io.weft.workloads.clicks.Ids;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.EmbeddedModel;
import io.weft.workloads.model.Ranking;

/// A worker's wide and deep network with its embeddings in tables. Confined to one thread.
///
/// @param columns of categories
record EmbeddingModel(int columns, EmbeddingTables tables, EmbeddingReplica replica, KeyFeed feed)
    implements WorkerModel {

  /// Registers its tables. Every worker must call it.
  ///
  /// @param width examples of a step
  static EmbeddingModel of(KeyValueTraining training, KeyValueStore store, Examples mine, int width)
      throws InterruptedException {
    int columns = mine.features() / Ids.BYTES;
    var tables =
        EmbeddingTables.register(training.settings(), training.servers(), training.weft(), store);
    var replica =
        new EmbeddingReplica(
            training.settings(), columns, tables, store.workers(), training.threads());
    return new EmbeddingModel(columns, tables, replica, new KeyFeed(mine, width));
  }

  @Override
  public long parameters() {
    return EmbeddedModel.parameters(columns);
  }

  @Override
  public double step(int[] order, int from, float scale) throws InterruptedException {
    feed.fill(order, from);
    double loss = replica.step(feed, scale);
    tables.clock();
    return loss;
  }

  @Override
  public void flush() throws InterruptedException {
    tables.flush();
  }

  @Override
  public TableCounts counts() {
    long staleness =
        tables.all().stream().mapToLong(it -> it.table().counts().staleness()).max().orElse(0);
    return new TableCounts(tables.pushes(), tables.pulls(), staleness);
  }

  @Override
  public void finish() {}

  @Override
  public long judge(Examples examples, Ranking ranking) {
    return replica.judge(examples, ranking);
  }

  @Override
  public String digest() {
    return replica.digest();
  }

  @Override
  public void close() {
    feed.close();
    replica.close();
    tables.close();
  }
}
