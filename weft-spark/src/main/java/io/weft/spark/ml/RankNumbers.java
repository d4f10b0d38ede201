// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.lang.foreign.ValueLayout;

/// A few numbers that all ranks combine. Every rank must make the same calls.
final class RankNumbers {

  private RankNumbers() {}

  /// Returns the numbers of all ranks, combined element by element. Waits for all ranks.
  static double[] of(Weft weft, String name, ReduceOp op, double... numbers)
      throws InterruptedException {
    try (TensorLease lease = weft.allocate(DType.FLOAT64, Shape.of(numbers.length))) {
      for (int i = 0; i < numbers.length; i++) {
        lease.view().data().setAtIndex(ValueLayout.JAVA_DOUBLE, i, numbers[i]);
      }
      weft.communicator().allreduce(lease.view(), lease.view(), op, named(name)).await();
      double[] combined = new double[numbers.length];
      for (int i = 0; i < numbers.length; i++) {
        combined[i] = lease.view().data().getAtIndex(ValueLayout.JAVA_DOUBLE, i);
      }
      return combined;
    }
  }
}
