// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.fault.FaultPlan;
import io.weft.testkit.fault.Faults;
import io.weft.testkit.fault.FaultyProvider;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.tcp.TcpProvider;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks live ranks whose network fails.
@Timeout(120)
class BrokenNetworkTest {

  private final Faults faults = new Faults();

  private LocalJob job(int size) {
    WeftConfig config =
        WeftConfig.builder()
            .heartbeat(Duration.ofMillis(100))
            .silenceLimit(Duration.ofSeconds(3))
            .build();
    return LocalJob.start(size, config, new FaultyProvider(new TcpProvider(), faults));
  }

  /// Returns the failures that end endless sums on each rank after `plan` takes effect during the
  /// sums.
  private List<CommException> failures(LocalJob job, String plan) {
    CountDownLatch under = new CountDownLatch(job.ranks().size());
    return job.run(
        weft -> {
          sum(weft);
          under.countDown();
          if (weft.rank() == 0) {
            under.await();
            faults.add(FaultPlan.parse(plan));
          }
          return catchThrowableOfType(
              CommException.class,
              () -> {
                while (true) {
                  sum(weft);
                }
              });
        });
  }

  private static void sum(Weft weft) throws InterruptedException {
    try (OwnedTensor t = OwnedTensor.allocate(DType.FLOAT32, Shape.of(100_000))) {
      var unused =
          weft.communicator().allreduce(t.view(), t.view(), ReduceOp.SUM, named("g")).await();
    }
  }

  @Test
  void allRanksNameAnEndOfACutConnectionAsLost() {
    try (LocalJob job = job(4)) {
      for (CommException failure : failures(job, "ranks=4; cut=0-1")) {
        int named =
            switch (failure) {
              case CommException.PeerLost lost -> lost.rank();
              case CommException.Excluded excluded -> excluded.witness();
              default -> -1;
            };
        assertThat(named).as(failure.toString()).isIn(0, 1);
      }
    }
  }

  @Test
  void aRankBehindADeadLinkIsLostToOthersAndKnowsThatItIsCutOff() {
    try (LocalJob job = job(3)) {
      List<CommException> failures = failures(job, "ranks=3; stall=0,1-2");
      for (CommException failure : failures.subList(0, 2)) {
        assertThat(failure)
            .isInstanceOf(CommException.PeerLost.class)
            .hasMessageContaining("rank 2 on ")
            .hasMessageContaining("no sign of life for ");
        assertThat(((CommException.PeerLost) failure).rank()).isEqualTo(2);
      }
      assertThat(failures.get(2))
          .isInstanceOf(CommException.Excluded.class)
          .hasMessageContaining("this rank, is cut off: no sign of life for ");
      faults.heal();
    }
  }

  /// The rank receives from the others but does not reach them, so the others notify it.
  @Test
  void aRankThatOthersCannotHearLearnsThatItWasGivenUp() {
    try (LocalJob job = job(3)) {
      List<CommException> failures = failures(job, "ranks=3; stall=2>0,1");
      for (CommException failure : failures.subList(0, 2)) {
        assertThat(failure).isInstanceOf(CommException.PeerLost.class);
        assertThat(((CommException.PeerLost) failure).rank()).isEqualTo(2);
      }
      assertThat(failures.get(2))
          .isInstanceOf(CommException.Excluded.class)
          .hasMessageContaining("rank 2 on ")
          .hasMessageContaining("this rank, was given up by rank ")
          .hasMessageContaining("no sign of life for ");
      faults.heal();
    }
  }

  /// Each byte is delayed by 400 ms, which is longer than four heartbeats and shorter than the
  /// limit.
  @Test
  void aSlowNetworkIsNotTakenForASilentOne() {
    try (LocalJob job = job(3)) {
      faults.add(FaultPlan.parse("ranks=3; delay=*-*:400ms"));
      job.run(
          weft -> {
            for (int i = 0; i < 2; i++) {
              sum(weft);
            }
            return true;
          });
      faults.heal();
    }
  }
}
