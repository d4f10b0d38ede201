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

/// The tables of a training, as this worker has them. One thread.
record EmbeddingTables(EmbeddedModel.Tables tables) implements AutoCloseable {

  /// Floats of a row of what dense layers have learned.
  private static final int DENSE_WIDTH = 1024;

  /// Registers them; all workers do.
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

  /// The worker's step is over.
  void clock() throws InterruptedException {
    for (WeftEmbedding each : all()) {
      each.clock();
    }
  }

  /// Waits until the servers have all pushes.
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
