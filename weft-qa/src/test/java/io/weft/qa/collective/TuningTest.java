// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.collective.AllreduceRequest;
import io.weft.collective.Tuning;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.ExpectedFailures;
import io.weft.testkit.job.LocalJob;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.Simulation;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks ranks that change their tuning while operations are in flight.
@Timeout(120)
class TuningTest {

  private static final int LENGTH = 200_000;

  private static final List<Tuning> TUNINGS =
      List.of(
          new Tuning(64, 4096, 2),
          new Tuning(Tuning.AUTO, 64 << 10, 3),
          Tuning.DEFAULT,
          new Tuning(1024, 1024, 16));

  private static TensorView ones(Arena arena, int length) {
    var tensor =
        new TensorView(DType.INT32, Shape.of(length), arena.allocate(4L * length, Long.BYTES));
    for (int i = 0; i < length; i++) {
      tensor.data().setAtIndex(ValueLayout.JAVA_INT, i, 1);
    }
    return tensor;
  }

  private static AllreduceRequest sum(TensorView tensor, String name) {
    return new AllreduceRequest(tensor, ReduceOp.SUM, named(name));
  }

  /// Submits long and short operations and a change of tuning in turn, and awaits them at the end.
  /// Returns the number of wrong elements.
  private static int changeInTheMiddle(Weft weft) throws InterruptedException {
    try (Arena arena = Arena.ofShared()) {
      List<TensorView> tensors = new ArrayList<>();
      List<Handle<?>> handles = new ArrayList<>();
      for (int round = 0; round < 2 * TUNINGS.size(); round++) {
        for (int length : new int[] {LENGTH, 10, 300}) {
          TensorView tensor = ones(arena, length);
          tensors.add(tensor);
          handles.add(weft.communicator().allreduce(sum(tensor, "g" + round + "/" + length)));
        }
        Tuning next = TUNINGS.get(round % TUNINGS.size());
        Handle<Void> changed = weft.communicator().tune(next);
        assertThat(weft.communicator().tuning()).isEqualTo(next);
        TensorView behind = ones(arena, LENGTH);
        tensors.add(behind);
        handles.add(weft.communicator().allreduce(sum(behind, "behind" + round)));
        changed.await();
      }
      for (Handle<?> handle : handles) {
        handle.await();
      }
      int wrong = 0;
      for (TensorView tensor : tensors) {
        for (int value : tensor.data().toArray(ValueLayout.JAVA_INT)) {
          wrong += value == weft.size() ? 0 : 1;
        }
      }
      return wrong;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void ranksChangeTheirTuningTogetherDuringOperations(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      assertThat(job.run(TuningTest::changeInTheMiddle)).containsOnly(0);
    }
  }

  @Test
  void lateRanksChangeTheirTuningTogetherInTheSimulator() throws InterruptedException {
    SimReport<Integer> report =
        Simulation.of(5)
            .hosts(3)
            .runRanks(
                self -> {
                  try (Weft weft = self.join()) {
                    self.compute(Duration.ofMillis(20L * self.rank()));
                    return changeInTheMiddle(weft);
                  }
                });
    assertThat(report.values()).containsOnly(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void differentTuningsAreRefusedOnAllRanksAndChangeNothing(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            Tuning before = weft.communicator().tuning();
            CommException failure =
                ExpectedFailures.of(weft.communicator().tune(TUNINGS.get(weft.rank())));
            assertThat(failure)
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("tuning 1");
            assertThat(weft.communicator().tuning()).isEqualTo(before);
            assertThat(changeInTheMiddle(weft)).isZero();
            return true;
          });
    }
  }
}
