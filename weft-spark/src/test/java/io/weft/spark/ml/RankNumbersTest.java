// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.tensor.ReduceOp;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RankNumbersTest {

  private static final long COMPUTING_NANOS = TimeUnit.SECONDS.toNanos(3);

  @Test
  void ranksWaitForAPartitionThatTakesLongerThanTheDeadline() {
    WeftConfig config =
        WeftConfig.builder().transport("inproc").deadline(Duration.ofSeconds(2)).build();
    try (LocalJob job = LocalJob.start(2, config)) {
      List<Double> widths =
          job.run(
              weft -> {
                try {
                  computePartition(weft.rank());
                  return RankNumbers.afterReading(weft, "width", ReduceOp.MAX, weft.rank())[0];
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              });
      assertThat(widths).containsExactly(1.0, 1.0);
    }
  }

  /// Takes longer than the deadline on rank 1.
  private static void computePartition(int rank) {
    long end = System.nanoTime() + rank * COMPUTING_NANOS;
    while (System.nanoTime() - end < 0) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
  }
}
