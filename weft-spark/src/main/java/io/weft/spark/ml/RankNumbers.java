// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/// A few numbers that all ranks combine. Every rank must make the same calls.
final class RankNumbers {

  /// The deadline of a wait for ranks that compute their partitions. A rank that dies ends the wait
  /// at once.
  private static final Duration READING = Duration.ofHours(2);

  private RankNumbers() {}

  /// Returns the numbers of all ranks, combined element by element. Waits for all ranks.
  static double[] of(Weft weft, String name, ReduceOp op, double... numbers)
      throws InterruptedException {
    return of(weft, named(name), op, numbers);
  }

  /// Returns the numbers of all ranks like `of`, and waits for ranks that still compute or store
  /// their partitions, longer than the communicator's deadline allows.
  static double[] afterReading(Weft weft, String name, ReduceOp op, double... numbers)
      throws InterruptedException {
    return of(weft, named(name).within(READING), op, numbers);
  }

  private static double[] of(Weft weft, CollectiveOptions options, ReduceOp op, double... numbers)
      throws InterruptedException {
    try (TensorLease lease = weft.allocate(DType.FLOAT64, Shape.of(numbers.length))) {
      for (int i = 0; i < numbers.length; i++) {
        lease.view().data().setAtIndex(ValueLayout.JAVA_DOUBLE, i, numbers[i]);
      }
      weft.communicator().allreduce(lease.view(), lease.view(), op, options).await();
      double[] combined = new double[numbers.length];
      for (int i = 0; i < numbers.length; i++) {
        combined[i] = lease.view().data().getAtIndex(ValueLayout.JAVA_DOUBLE, i);
      }
      return combined;
    }
  }
}
