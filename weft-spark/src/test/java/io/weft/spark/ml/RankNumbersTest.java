// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.tensor.ReduceOp;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RankNumbersTest {

  @Test
  void ranksWaitForAPartitionThatTakesLongerThanTheDeadline() {
    WeftConfig config =
        WeftConfig.builder().transport("inproc").deadline(Duration.ofSeconds(2)).build();
    try (LocalJob job = LocalJob.start(2, config)) {
      List<Double> widths =
          job.run(
              weft -> {
                try {
                  Thread.sleep(weft.rank() * 3000L);
                  return RankNumbers.afterReading(weft, "width", ReduceOp.MAX, weft.rank())[0];
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              });
      assertThat(widths).containsExactly(1.0, 1.0);
    }
  }
}
