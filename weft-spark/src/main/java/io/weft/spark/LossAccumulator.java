// SPDX-License-Identifier: Apache-2.0
package io.weft.spark;

import java.io.Serial;
import org.apache.spark.util.AccumulatorV2;
import org.jspecify.annotations.Nullable;

/// Spark's accumulator of the loss in the current epoch. The task's thread adds; others read.
final class LossAccumulator extends AccumulatorV2<EpochLoss, EpochLoss> {

  @Serial private static final long serialVersionUID = 1L;

  // Null before the first loss. A heartbeat may also read an accumulator that a task is still
  // deserializing, because Spark registers it before it has its fields.
  private volatile @Nullable EpochLoss loss;

  @Override
  public boolean isZero() {
    return loss == null;
  }

  @Override
  public AccumulatorV2<EpochLoss, EpochLoss> copy() {
    var copy = new LossAccumulator();
    copy.loss = loss;
    return copy;
  }

  @Override
  public void reset() {
    loss = null;
  }

  @Override
  public void add(EpochLoss added) {
    loss = value().with(added);
  }

  @Override
  public void merge(AccumulatorV2<EpochLoss, EpochLoss> other) {
    if (!other.isZero()) {
      add(other.value());
    }
  }

  @Override
  public EpochLoss value() {
    EpochLoss known = loss;
    return known == null ? EpochLoss.NONE : known;
  }
}
