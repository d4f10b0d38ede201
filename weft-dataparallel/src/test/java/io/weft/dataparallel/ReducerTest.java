// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReducerTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /// The program of one rank with a reducer.
  @FunctionalInterface
  interface Body<T> {
    T run(Weft weft, Reducer reducer) throws Exception;
  }

  static <T> List<T> negotiated(int ranks, Body<T> body) {
    return negotiated(ranks, Duration.ofSeconds(10), LIMIT, body);
  }

  static <T> List<T> negotiated(int ranks, Duration stall, Duration deadline, Body<T> body) {
    try (LocalJob job = LocalJob.over("inproc", ranks)) {
      return job.run(
          weft -> {
            var options =
                DataParallelOptions.of(weft.config()).with(Fusion.ON).withLimits(stall, deadline);
            try (DataParallel parallel = DataParallel.open(weft, options)) {
              return body.run(weft, parallel.reducer(weft.communicator()));
            }
          });
    }
  }

  static TensorView floats(float... values) {
    return new TensorView(
        DType.FLOAT32,
        Shape.of(values.length),
        Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, values));
  }

  static float[] floats(TensorView tensor) {
    return tensor.data().toArray(ValueLayout.JAVA_FLOAT);
  }

  @Test
  void tensorsInDifferentOrdersAreAveraged() {
    negotiated(
        3,
        (weft, reducer) -> {
          Random order = new Random(weft.rank());
          for (int step = 0; step < 20; step++) {
            List<Integer> names = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
            Collections.shuffle(names, order);
            List<Handle<TensorView>> handles = new ArrayList<>();
            for (int name : names) {
              handles.add(reducer.reduce("g" + name, floats(name + weft.rank(), step)));
            }
            for (int i = 0; i < names.size(); i++) {
              assertThat(floats(handles.get(i).await(LIMIT)))
                  .containsExactly(names.get(i) + 1f, step);
            }
          }
          return true;
        });
  }

  @Test
  void aSeparateOutputIsWrittenAndTheInputIsKept() {
    negotiated(
        2,
        (weft, reducer) -> {
          TensorView in = floats(1, 2);
          TensorView out = floats(0, 0);
          TensorView other = floats(5);
          var first = reducer.allreduce(ReductionRequest.of("a", in, out, ReduceOp.SUM));
          var second = reducer.allreduce(ReductionRequest.of("b", other, ReduceOp.MAX));
          assertThat(first.await(LIMIT)).isSameAs(out);
          assertThat(floats(out)).containsExactly(2, 4);
          assertThat(floats(in)).containsExactly(1, 2);
          assertThat(floats(second.await(LIMIT))).containsExactly(5);
          return true;
        });
  }

  @Test
  void scalesApplyBeforeAndAfter() {
    negotiated(
        2,
        (weft, reducer) -> {
          TensorView tensor = floats(3);
          TensorView same = floats(5);
          var request = ReductionRequest.of("a", tensor, ReduceOp.SUM).scaled(0.5, 4);
          var handle = reducer.allreduce(request);
          var fused =
              reducer.allreduce(ReductionRequest.of("b", same, ReduceOp.SUM).scaled(0.5, 4));
          assertThat(floats(handle.await(LIMIT))).containsExactly(12);
          assertThat(floats(fused.await(LIMIT))).containsExactly(20);
          return true;
        });
  }

  @Test
  void ranksThatDisagreeLearnAllRequestsAndContinue() {
    negotiated(
        3,
        (weft, reducer) -> {
          TensorView mine = weft.rank() == 1 ? floats(1, 2) : floats(1);
          assertThatThrownBy(() -> reducer.reduce("g", mine).await(LIMIT))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("'g'")
              .hasMessageContaining("AVERAGE of FLOAT32[1]")
              .hasMessageContaining("rank 1")
              .hasMessageContaining("AVERAGE of FLOAT32[2]");
          assertThat(floats(reducer.reduce("g", floats(4)).await(LIMIT))).containsExactly(4);
          return true;
        });
  }

  @Test
  void aTensorInFlightIsRefusedAtOnce() {
    negotiated(
        2,
        (weft, reducer) -> {
          if (weft.rank() == 0) {
            var first = reducer.reduce("g", floats(1));
            assertThatThrownBy(() -> reducer.reduce("g", floats(1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'g'");
            reducer.barrier(LIMIT);
            return first.await(LIMIT);
          }
          reducer.barrier(LIMIT);
          return reducer.reduce("g", floats(1)).await(LIMIT);
        });
  }

  @Test
  void aRankWithoutDataJoinsAndContributesNothing() {
    List<Integer> last =
        negotiated(
            2,
            (weft, reducer) -> {
              int batches = weft.rank() == 0 ? 7 : 4;
              for (int batch = 0; batch < batches; batch++) {
                var sum = ReductionRequest.of("sum", floats(1), ReduceOp.SUM);
                var least = ReductionRequest.of("least", floats(3, 4), ReduceOp.MIN);
                var first = reducer.allreduce(sum);
                var second = reducer.allreduce(least);
                assertThat(floats(first.await(LIMIT))).containsExactly(batch < 4 ? 2 : 1);
                assertThat(floats(second.await(LIMIT))).containsExactly(3, 4);
              }
              Handle<Integer> joined = reducer.join();
              int rank = joined.await(LIMIT);
              assertThat(floats(reducer.reduce("sum", floats(2)).await(LIMIT))).containsExactly(2);
              return rank;
            });
    assertThat(last).containsExactly(0, 0);
  }

  @Test
  void aSubmissionAfterJoinIsRefused() {
    negotiated(
        2,
        (weft, reducer) -> {
          if (weft.rank() == 0) {
            Handle<Integer> joined = reducer.join();
            assertThatThrownBy(() -> reducer.reduce("g", floats(1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'g'")
                .hasMessageContaining("after its join");
            return joined.await(LIMIT);
          }
          floats(reducer.reduce("g", floats(1)).await(LIMIT));
          return reducer.join().await(LIMIT);
        });
  }

  @Test
  void aTensorThatARankNeverSubmitsFailsNamingTheRank() {
    negotiated(
        2,
        Duration.ofMillis(200),
        Duration.ofSeconds(2),
        (weft, reducer) -> {
          var unused = reducer.reduce("before", floats(1)).await(LIMIT);
          if (weft.rank() == 0) {
            assertThatThrownBy(() -> reducer.reduce("lost", floats(1)).await(LIMIT))
                .isInstanceOf(CommException.Broken.class)
                .hasMessageContaining("rank 1")
                .hasMessageContaining("never submitted 'lost'")
                .hasMessageContaining("'before'");
          }
          reducer.barrier(LIMIT);
          if (weft.rank() == 1) {
            assertThatThrownBy(() -> reducer.reduce("lost", floats(1)).await(LIMIT))
                .isInstanceOf(CommException.Broken.class)
                .hasMessageContaining("never submitted 'lost'");
          }
          reducer.barrier(LIMIT);
          assertThat(floats(reducer.reduce("lost", floats(3)).await(LIMIT))).containsExactly(3);
          return true;
        });
  }

  @Test
  void aBarrierNamesTheMissingRank() {
    negotiated(
        2,
        (weft, reducer) -> {
          if (weft.rank() == 0) {
            assertThatThrownBy(() -> reducer.barrier(Duration.ofSeconds(1)))
                .isInstanceOf(CommException.Broken.class)
                .hasMessageContaining("rank 1");
          }
          var all = reducer.allgatherObject("done", "rank " + weft.rank(), ObjectCodec.text());
          assertThat(all).containsExactly("rank 0", "rank 1");
          return true;
        });
  }

  @Test
  void aGroupIsReducedWholeOrFailsWhole() {
    negotiated(
        2,
        (weft, reducer) -> {
          TensorView second = weft.rank() == 0 ? floats(1) : floats(1, 1);
          var group =
              List.of(
                  ReductionRequest.of("a", floats(1), ReduceOp.SUM),
                  ReductionRequest.of("b", second, ReduceOp.SUM),
                  ReductionRequest.of("c", floats(7), ReduceOp.SUM));
          assertThatThrownBy(() -> reducer.reduceAll(group).await(LIMIT))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("'b'");
          var right =
              List.of(
                  ReductionRequest.of("a", floats(1), ReduceOp.SUM),
                  ReductionRequest.of("b", floats(2, 2), ReduceOp.SUM));
          List<TensorView> results = reducer.reduceAll(right).await(LIMIT);
          assertThat(floats(results.get(0))).containsExactly(2);
          assertThat(floats(results.get(1))).containsExactly(4, 4);
          return true;
        });
  }

  @Test
  void theOtherRanksNameTheRankThatCloses() {
    negotiated(
        2,
        (weft, reducer) -> {
          if (weft.rank() == 1) {
            return true; // closes
          }
          assertThatThrownBy(() -> reducer.reduce("g", floats(1)).await(LIMIT))
              .isInstanceOf(CommException.Aborted.class)
              .hasMessageContaining("rank 1");
          return true;
        });
  }

  @Test
  void objectsAreBroadcastAndGathered() {
    negotiated(
        3,
        (weft, reducer) -> {
          String own = "object of " + weft.rank();
          assertThat(reducer.broadcastObject("o", own, ObjectCodec.text(), 2))
              .isEqualTo("object of 2");
          assertThat(reducer.broadcastObject("o", "", ObjectCodec.text(), 0)).isEmpty();
          String one = "x".repeat(weft.rank());
          assertThat(reducer.allgatherObject("o", one, ObjectCodec.text()))
              .containsExactly("", "x", "xx");
          return true;
        });
  }
}
