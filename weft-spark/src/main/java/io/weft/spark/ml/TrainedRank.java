// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.spark.model.TrainedModel;
import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The result of a training on one rank.
///
/// @param executor the executor of the rank
/// @param rows the rows of its partition
/// @param digest the fingerprint of the final weights
/// @param losses the mean loss of all ranks' rows in each epoch that this attempt trained
/// @param stepMillis the median duration of its steps in the last epoch; NaN if it has no rows
/// @param network the trained model, from rank 0 only
record TrainedRank(
    String executor,
    long rows,
    String digest,
    List<Double> losses,
    double stepMillis,
    @Nullable TrainedModel network)
    implements Serializable {
  TrainedRank {
    losses = List.copyOf(losses);
  }
}
