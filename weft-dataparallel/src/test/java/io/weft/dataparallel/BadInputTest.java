// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.collective.Tuning;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Checks errors of programs beyond those of `ReducerTest`. Each message names the error, the rank
/// and the remedy, and the reducer continues.
class BadInputTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Test
  void aNameUsedBeforeWithAnotherShapeOnOneRankFailsOnAll() {
    ReducerTest.negotiated(
        3,
        (weft, reducer) -> {
          for (int step = 0; step < 3; step++) {
            var unused = reducer.reduce("g", ReducerTest.floats(1, 2)).await(LIMIT);
          }
          TensorView mine =
              weft.rank() == 2 ? ReducerTest.floats(1, 2, 3) : ReducerTest.floats(1, 2);
          assertThatThrownBy(() -> reducer.reduce("g", mine).await(LIMIT))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("'g'")
              .hasMessageContaining("FLOAT32[2]")
              .hasMessageContaining("rank 2")
              .hasMessageContaining("FLOAT32[3]")
              .hasMessageContaining("make the calls equal");
          var again = reducer.reduce("g", ReducerTest.floats(1, 2, 3)).await(LIMIT);
          assertThat(ReducerTest.floats(again)).containsExactly(1, 2, 3);
          return true;
        });
  }

  @Test
  void differentSizesOnOneRankFailOnAllRanks() {
    ReducerTest.negotiated(
        3,
        (weft, reducer) -> {
          Tuning wanted = new Tuning(0, weft.rank() == 1 ? 65_536 : 131_072, 0);
          assertThatThrownBy(() -> reducer.tune(wanted).await(LIMIT))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("weft/tune")
              .hasMessageContaining("rank 1 on")
              .hasMessageContaining("window of [0, 65536, 0]")
              .hasMessageContaining("[0, 131072, 0]");
          assertThat(weft.communicator().tuning()).isEqualTo(Tuning.DEFAULT);
          var again = reducer.reduce("g", ReducerTest.floats(1, 2, 3)).await(LIMIT);
          assertThat(ReducerTest.floats(again)).containsExactly(1, 2, 3);
          return true;
        });
  }

  @Test
  void aTensorTwiceInAGroupIsRefusedAndNoneOfTheGroupIsSubmitted() {
    ReducerTest.negotiated(
        2,
        (weft, reducer) -> {
          var twice =
              List.of(
                  ReductionRequest.of("a", ReducerTest.floats(1), ReduceOp.SUM),
                  ReductionRequest.of("a", ReducerTest.floats(1), ReduceOp.SUM));
          assertThatThrownBy(() -> reducer.reduceAll(twice))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("'a'")
              .hasMessageContaining("rank " + weft.rank());
          var once = reducer.reduceAll(twice.subList(0, 1)).await(LIMIT);
          assertThat(ReducerTest.floats(once.getFirst())).containsExactly(2);
          return true;
        });
  }

  @Test
  void aFusionBufferBeyondTheMemoryOfARankFailsItsTensorsOnAllRanks() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      var unused =
          job.run(
              weft -> {
                var options =
                    DataParallelOptions.of(weft.config())
                        .with(Fusion.ON)
                        .withLimits(Duration.ofSeconds(10), LIMIT);
                var reducer =
                    new NegotiatedReducer(
                        new LayerMembers(
                            weft.communicator().duplicate("layer"), weft.topology()::describe),
                        new LayerSettings(options, ""),
                        (dtype, shape) -> allocate(weft, dtype, shape),
                        "of a test",
                        LayerSpans.NONE);
                try {
                  beyondMemory(reducer);
                } finally {
                  reducer.leave();
                  reducer.close(System.nanoTime() + 5_000_000_000L);
                }
                return true;
              });
    }
  }

  @Test
  void memoryThatIsClosedBeforeTheReductionFailsItsTensorsOnAllRanks() {
    ReducerTest.negotiated(
        2,
        (weft, reducer) -> {
          for (boolean fused : List.of(true, false)) {
            Arena arena = Arena.ofShared();
            TensorView closing =
                new TensorView(
                    DType.FLOAT32, Shape.of(64), arena.allocate(ValueLayout.JAVA_FLOAT, 64));
            if (weft.rank() == 1) {
              reducer.barrier(LIMIT); // rank 0 has submitted and closed
            }
            Handle<TensorView> one =
                reducer.allreduce(ReductionRequest.of("closing", closing, ReduceOp.SUM));
            if (fused) {
              var _ = reducer.reduce("beside", ReducerTest.floats(1, 2));
            }
            if (weft.rank() == 0) {
              arena.close();
              reducer.barrier(LIMIT);
            }
            assertThatThrownBy(() -> one.await(LIMIT))
                .isInstanceOf(CommException.class)
                .hasMessageContaining("closing");
            var next = reducer.reduce("next", ReducerTest.floats(1, 2)).await(LIMIT);
            assertThat(ReducerTest.floats(next)).containsExactly(1, 2);
            if (weft.rank() == 1) {
              arena.close();
            }
          }
          return true;
        });
  }

  @Test
  void groupsOfDifferentLengthsFailOnAllRanksAtOnce() {
    ReducerTest.negotiated(
        2,
        (weft, reducer) -> {
          List<ReductionRequest> group = new ArrayList<>();
          group.add(ReductionRequest.of("x", ReducerTest.floats(1), ReduceOp.SUM));
          if (weft.rank() == 0) {
            group.add(ReductionRequest.of("y", ReducerTest.floats(1), ReduceOp.SUM));
          }
          Handle<List<TensorView>> handle = reducer.reduceAll(group);
          assertThatThrownBy(() -> handle.await(Duration.ofSeconds(30))) // the deadline is later
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("'x'");
          var both =
              List.of(
                  ReductionRequest.of("x", ReducerTest.floats(1), ReduceOp.SUM),
                  ReductionRequest.of("z", ReducerTest.floats(2), ReduceOp.SUM));
          var again = reducer.reduceAll(both).await(LIMIT);
          assertThat(ReducerTest.floats(again.get(1))).containsExactly(4);
          return true;
        });
  }

  @Test
  void anObjectThatCannotBeEncodedFailsOnAllRanksAndTheReducerContinues() {
    ReducerTest.negotiated(
        2,
        Duration.ofSeconds(1),
        Duration.ofSeconds(3),
        (weft, reducer) -> {
          if (weft.rank() == 1) {
            assertThatThrownBy(() -> reducer.allgatherObject("o", "x", new Unwritable()))
                .isInstanceOf(IllegalStateException.class);
          } else {
            assertThatThrownBy(() -> reducer.allgatherObject("o", "x", ObjectCodec.text()))
                .isInstanceOf(CommException.Broken.class)
                .hasMessageContaining("rank 1")
                .hasMessageContaining("never submitted");
          }
          var again =
              reducer
                  .allreduce(
                      ReductionRequest.of("g", ReducerTest.floats(1, 2), ReduceOp.AVERAGE)
                          .within(LIMIT))
                  .await(LIMIT);
          assertThat(ReducerTest.floats(again)).containsExactly(1, 2);
          return true;
        });
  }

  /// A codec whose `encode` throws.
  private static final class Unwritable implements ObjectCodec<String> {
    @Override
    public byte[] encode(String value) {
      throw new IllegalStateException("no bytes of " + value);
    }

    @Override
    public String decode(byte[] bytes) {
      return ObjectCodec.text().decode(bytes);
    }
  }

  @Test
  void theExceptionOfAHandleHasTheStackOfTheWaitingThread() {
    ReducerTest.negotiated(
        2,
        (weft, reducer) -> {
          TensorView mine = weft.rank() == 1 ? ReducerTest.floats(1) : ReducerTest.floats(1, 2);
          assertThatThrownBy(() -> reducer.reduce("g", mine).await(LIMIT))
              .isInstanceOf(CommException.Mismatch.class)
              .satisfies(
                  thrown ->
                      assertThat(thrown.getStackTrace())
                          .anyMatch(each -> each.getClassName().contains("BadInputTest")));
          return true;
        });
  }

  /// Allocates memory. Rank 1 has at most 1 MiB for a tensor.
  private static TensorLease allocate(Weft weft, DType dtype, Shape shape) {
    if (weft.rank() == 1 && TensorView.bytes(dtype, shape) > 1 << 20) {
      throw new OutOfMemoryError("memory of rank 1");
    }
    return weft.allocate(dtype, shape);
  }

  private static void beyondMemory(Reducer reducer) throws InterruptedException {
    TensorView first = zeros(400_000);
    TensorView second = zeros(400_000);
    Handle<List<TensorView>> both =
        reducer.reduceAll(
            List.of(
                ReductionRequest.of("first", first, ReduceOp.SUM),
                ReductionRequest.of("second", second, ReduceOp.SUM)));
    assertThatThrownBy(() -> both.await(LIMIT))
        .isInstanceOf(CommException.Mismatch.class)
        .hasMessageContaining("no memory for a fusion buffer of 3200000 bytes")
        .hasMessageContaining("'first' to 'second'")
        .hasMessageContaining("rank 1")
        .hasMessageContaining("lower fusion-threshold");
    for (int step = 0; step < 4; step++) {
      var small =
          reducer.reduceAll(
              List.of(
                  ReductionRequest.of("first", ReducerTest.floats(1), ReduceOp.SUM),
                  ReductionRequest.of("second", ReducerTest.floats(2), ReduceOp.SUM)));
      assertThat(ReducerTest.floats(small.await(LIMIT).get(1))).containsExactly(4);
    }
    reducer.barrier(LIMIT);
  }

  private static TensorView zeros(int elements) {
    return new TensorView(
        DType.FLOAT32,
        Shape.of(elements),
        Arena.ofAuto().allocate(ValueLayout.JAVA_FLOAT, elements));
  }
}
