// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.workloads.batch.Columns;
import io.weft.workloads.batch.RankShards;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.training.RankExchange;
import io.weft.workloads.training.TrainingException;
import io.weft.workloads.training.TrainingSettings;

/// One worker's part of the training data.
///
/// @param workers the exchange between all workers
/// @param share the worker's columns of each batch
/// @param examples of these columns
public record WorkerShard(RankExchange workers, RankShards share, Examples examples) {

  /// Reads the data on a worker. Collective. Throws `DataException`, and `TrainingException.Unfit`
  /// if the workers' data differ or the batch does not fit the workers and the data.
  ///
  /// @param index of the worker
  /// @param count of workers
  public static WorkerShard read(
      TrainingSettings settings, DataSource source, RankExchange workers, int index, int count) {
    Examples all = source.train();
    String extent = "%d examples of %d values".formatted(all.count(), all.features());
    workers.requireSame("data", "worker", extent);
    if (settings.batch() > all.count() || settings.batch() < count) {
      throw new TrainingException.Unfit(
          "--batch %d: expected from %d, the workers, to %d, the examples to train on"
              .formatted(settings.batch(), count, all.count()));
    }
    var columns = new Columns(all.count(), settings.batch(), settings.seed());
    var share = new RankShards(columns, count, index, count);
    return new WorkerShard(workers, share, all.select(share.rows()));
  }

  /// Returns the columns of the whole training set.
  public Columns columns() {
    return share.columns();
  }
}
