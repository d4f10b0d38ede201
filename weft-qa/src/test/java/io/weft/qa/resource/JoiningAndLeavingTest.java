// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.resource;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.InMemoryStore;
import io.weft.cluster.store.SecretFile;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.fault.FaultPlan;
import io.weft.testkit.fault.Faults;
import io.weft.testkit.fault.FaultyProvider;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.tcp.TcpProvider;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class JoiningAndLeavingTest {

  private static final long SLACK_BYTES = 8 << 20;
  private static final WeftConfig CONFIG = WeftConfig.builder().transport("tcp").build();

  /// One life of a job.
  private interface Life {
    void live() throws Exception;
  }

  private static void assertLeavesNothing(int times, Life life) throws Exception {
    for (int i = 0; i < 2; i++) {
      life.live();
    }
    Resources before = Resources.now();
    for (int i = 0; i < times; i++) {
      life.live();
    }
    Resources.assertNoMoreThan(before, SLACK_BYTES);
  }

  private static Handle<TensorView> sum(Weft weft, OwnedTensor t) {
    return weft.communicator().allreduce(t.view(), t.view(), ReduceOp.SUM, named("g"));
  }

  private static OwnedTensor tensor() {
    return OwnedTensor.allocate(DType.FLOAT32, Shape.of(100_000));
  }

  @Test
  void jobsThatEndInOrderLeaveNoResources() throws Exception {
    assertLeavesNothing(
        70,
        () -> {
          try (LocalJob job = LocalJob.start(3, CONFIG)) {
            job.run(
                weft -> {
                  try (OwnedTensor t = tensor()) {
                    return sum(weft, t).await().bytes();
                  }
                });
          }
        });
  }

  @Test
  void jobsOfASingleRankLeaveNoResources() throws Exception {
    LaunchEnvironment launch = LaunchEnvironment.detect(Map.of());
    assertLeavesNothing(
        200,
        () -> {
          try (Weft weft = Weft.init(WeftConfig.builder().build(), launch, Map.of());
              OwnedTensor t = tensor()) {
            assertThat(sum(weft, t).await().bytes()).isEqualTo(400_000);
          }
        });
  }

  @Test
  void abortedJobsLeaveNoResources() throws Exception {
    assertLeavesNothing(
        30,
        () -> {
          try (LocalJob job = LocalJob.start(3, CONFIG)) {
            job.run(
                weft -> {
                  try (OwnedTensor t = tensor()) {
                    if (weft.rank() == 1) {
                      weft.communicator().abort(new CommException.Setup("enough", null));
                    }
                    var failed = catchThrowableOfType(CommException.class, sum(weft, t)::await);
                    assertThat(failed).hasMessageContaining("enough");
                    return true;
                  }
                });
          }
        });
  }

  @Test
  void jobsThatLoseAPeerLeaveNoResources() throws Exception {
    assertLeavesNothing(
        15,
        () -> {
          var faults = new Faults(FaultPlan.parse("cut=1>0@100000"));
          var provider = new FaultyProvider(new TcpProvider(), faults);
          try (LocalJob job = LocalJob.start(3, CONFIG, provider)) {
            job.run(
                weft -> {
                  try (OwnedTensor t = tensor()) {
                    var failed =
                        catchThrowableOfType(
                            CommException.class,
                            () -> {
                              while (true) {
                                var unused = sum(weft, t).await();
                              }
                            });
                    assertThat(failed).hasMessageContaining("lost");
                    return true;
                  }
                });
          }
        });
  }

  @Test
  void refusedJoinsLeaveNoResources() throws Exception {
    WeftConfig config =
        WeftConfig.builder().transport("tcp").startDeadline(Duration.ofMillis(300)).build();
    LaunchEnvironment second =
        new LaunchEnvironment(
            "testkit",
            1,
            2,
            OptionalInt.empty(),
            OptionalInt.empty(),
            Optional.empty(),
            new StoreLocation.InProcess());
    assertLeavesNothing(
        15,
        () ->
            assertThatThrownBy(
                    () ->
                        Weft.init(
                            config, second, new InMemoryStore(), SecretFile.random(), "alone"))
                .isInstanceOf(CommException.Setup.class)
                .hasMessageContaining("rank 0"));
    assertLeavesNothing(
        5,
        () ->
            assertThatThrownBy(
                    () ->
                        LocalJob.start(
                            2,
                            config,
                            new FaultyProvider(
                                new TcpProvider(), new Faults(FaultPlan.parse("stall=0-1")))))
                .isInstanceOf(CommException.Setup.class)
                .hasMessageContaining("rank"));
  }
}
