// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.spark.model.ModelFactory;
import java.io.Serializable;
import java.util.Objects;

/// The settings of a training, equal on all ranks.
///
/// @param network makes the models
/// @param reader reads rows
/// @param classes the number of classes, or 0
/// @param weighted whether rows have a third column, their weight
/// @param batchSize rows of a rank in each step
/// @param epochs how often the ranks go through their rows
/// @param seed the seed of initial weights and of the order of rows
/// @param checkpoints the directory of this training's checkpoints, or the empty text
record TrainingSpec(
    ModelFactory network,
    RowReader reader,
    int classes,
    boolean weighted,
    int batchSize,
    int epochs,
    long seed,
    String checkpoints)
    implements Serializable {
  TrainingSpec {
    Objects.requireNonNull(network, "network");
    Objects.requireNonNull(reader, "reader");
    Objects.requireNonNull(checkpoints, "checkpoints");
  }
}
