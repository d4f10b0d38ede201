// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.peers;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.Connections;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks connections that are made at their first use, over real transports, when all ranks begin
/// at once.
@Timeout(120)
class ConnectionsTest {

  private static final int RANKS = 4;

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void collectivesConnectOnlyTheRanksThatTheyNeed(String transport) {
    for (int round = 0; round < 5; round++) {
      WeftConfig config =
          WeftConfig.builder()
              .transport(transport)
              .connections(Connections.USED)
              .deadline(Duration.ofSeconds(30))
              .build();
      try (LocalJob job = LocalJob.start(RANKS, config)) {
        assertThat(job.ranks()).allMatch(weft -> weft.connections() == 0);
        assertThat(job.run(ConnectionsTest::sums)).containsOnly(6);
        assertThat(job.ranks()).allMatch(weft -> weft.connections() > 0);
        assertThat(job.ranks()).allMatch(weft -> weft.connections() < RANKS);
      }
    }
  }

  private static int sums(Weft weft) throws InterruptedException {
    int last = 0;
    for (long elements : new long[] {1, 100_000}) {
      try (TensorLease sum = weft.allocate(DType.INT32, Shape.of(elements))) {
        sum.view().data().set(JAVA_INT, 0, weft.rank());
        var unused =
            weft.communicator()
                .allreduce(sum.view(), sum.view(), ReduceOp.SUM, CollectiveOptions.named("s"))
                .await();
        last = sum.view().data().get(JAVA_INT, 0);
      }
    }
    return last;
  }
}
