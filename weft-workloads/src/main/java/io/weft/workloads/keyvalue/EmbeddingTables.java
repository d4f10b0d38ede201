// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.kv.KvWorker;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableCounts;
import io.weft.kv.spec.TableSpec;
import io.weft.tensorflow.embedding.WeftEmbedding;
import io.weft.workloads.model.EmbeddedModel;
import io.weft.workloads.parameterserver.ServedTraining;
import io.weft.workloads.parameterserver.Servers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A worker's view of the tables of a training. Confined to one thread.
record EmbeddingTables(EmbeddedModel.Tables tables) implements AutoCloseable {

  /// The number of floats in a row of the dense layers' learned differences.
  private static final int DENSE_WIDTH = 1024;

  /// Registers the tables. Every worker must call it.
  static EmbeddingTables register(ServedTraining training, KvWorker store)
      throws InterruptedException {
    TableSettings with = TableSettings.of(training.settings());
    Consistency consistency = with.consistency();
    String rule = with.rule();
    TableSpec wide = TableSpec.rows("wide", 1).withRule(rule).with(consistency);
    TableSpec deep =
        TableSpec.rows("deep", EmbeddedModel.EMBEDDED)
            .withRule(rule)
            .withInitial("normal:stddev=" + EmbeddedModel.DEVIATION, training.settings().seed())
            .with(consistency);
    TableSpec dense = TableSpec.rows("dense", DENSE_WIDTH).withRule(rule).with(consistency);
    return new EmbeddingTables(
        new EmbeddedModel.Tables(
            WeftEmbedding.of(training.weft(), store.register(wide)),
            WeftEmbedding.of(training.weft(), store.register(deep)),
            training.servers().dense() == Servers.Dense.SERVERS
                ? Optional.of(WeftEmbedding.of(training.weft(), store.register(dense)))
                : Optional.empty()));
  }

  List<WeftEmbedding> all() {
    List<WeftEmbedding> all = new ArrayList<>(List.of(tables.wide(), tables.deep()));
    tables.dense().ifPresent(all::add);
    return all;
  }

  /// Advances the worker's clock of each table after a step.
  void clock() throws InterruptedException {
    for (WeftEmbedding each : all()) {
      each.clock();
    }
  }

  /// Waits until all pushes have completed.
  void flush() throws InterruptedException {
    for (WeftEmbedding each : all()) {
      each.flush();
    }
  }

  /// Returns the counts of requests.
  TableCounts counts() {
    long pushes = all().stream().mapToLong(WeftEmbedding::pushes).sum();
    long pulls = all().stream().mapToLong(WeftEmbedding::pulls).sum();
    long staleness =
        all().stream().mapToLong(it -> it.table().counts().staleness()).max().orElse(0);
    return new TableCounts(pushes, pulls, staleness);
  }

  @Override
  public void close() {
    all().forEach(WeftEmbedding::close);
  }
}
