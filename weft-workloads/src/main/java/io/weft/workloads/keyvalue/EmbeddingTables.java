// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.Weft;
import io.weft.kv.KeyValueStore;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.tensorflow.embedding.WeftEmbedding;
import io.weft.workloads.model.EmbeddedModel;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.training.TrainingSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A worker's view of the tables of a training. Confined to one thread.
record EmbeddingTables(EmbeddedModel.Tables tables) implements AutoCloseable {

  /// The number of floats in a row of the dense layers' learned differences.
  private static final int DENSE_WIDTH = 1024;

  /// Registers the tables. Every worker must call it.
  static EmbeddingTables register(
      TrainingSettings settings, Servers servers, Weft weft, KeyValueStore store)
      throws InterruptedException {
    TableSettings with = TableSettings.of(settings);
    Consistency consistency = with.consistency();
    String rule = with.rule();
    TableSpec wide = TableSpec.rows("wide", 1).withRule(rule).with(consistency);
    TableSpec deep =
        TableSpec.rows("deep", EmbeddedModel.EMBEDDED)
            .withRule(rule)
            .withInitial("normal:stddev=" + EmbeddedModel.DEVIATION, settings.seed())
            .with(consistency);
    TableSpec dense = TableSpec.rows("dense", DENSE_WIDTH).withRule(rule).with(consistency);
    return new EmbeddingTables(
        new EmbeddedModel.Tables(
            WeftEmbedding.of(weft, store.register(wide)),
            WeftEmbedding.of(weft, store.register(deep)),
            servers.dense() == Servers.Dense.SERVERS
                ? Optional.of(WeftEmbedding.of(weft, store.register(dense)))
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

  long pushes() {
    return all().stream().mapToLong(WeftEmbedding::pushes).sum();
  }

  long pulls() {
    return all().stream().mapToLong(WeftEmbedding::pulls).sum();
  }

  @Override
  public void close() {
    all().forEach(WeftEmbedding::close);
  }
}
