// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.workloads.data.Examples;
import io.weft.workloads.training.TrainingException;
import java.lang.foreign.ValueLayout;

/// A check of the workers' data, because workers with fewer examples would take fewer steps.
public final class SameData {

  private SameData() {}

  /// Throws `TrainingException.Unfit` unless the workers' data have equal extents. Collective.
  public static void require(Weft weft, Communicator workers, Examples data)
      throws InterruptedException {
    try (TensorLease mine = weft.allocate(DType.INT64, Shape.of(1, 2))) {
      mine.view().data().setAtIndex(ValueLayout.JAVA_LONG, 0, data.count());
      mine.view().data().setAtIndex(ValueLayout.JAVA_LONG, 1, data.features());
      try (TensorLease all =
          workers.allgather(mine.view(), CollectiveOptions.named("weft-train/data")).await()) {
        long[] extents = all.view().data().toArray(ValueLayout.JAVA_LONG);
        for (int i = 2; i < extents.length; i += 2) {
          if (extents[i] != extents[0] || extents[i + 1] != extents[1]) {
            throw new TrainingException.Unfit(
                ("worker 0 has read %d examples of %d values, worker %d %d of %d; give --data with"
                        + " the same files on all hosts")
                    .formatted(extents[0], extents[1], i / 2, extents[i], extents[i + 1]));
          }
        }
      }
    }
  }
}
