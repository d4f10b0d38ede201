// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.collective.Tuning;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.dataparallel.CollectiveRequest.Allgather;
import io.weft.dataparallel.CollectiveRequest.Broadcast;
import io.weft.dataparallel.CollectiveRequest.ReduceScatter;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks allgather, reduceScatter and broadcast of both reducers.
class CollectivesTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static void run(Fusion fusion, int ranks, ReducerTest.Body<Boolean> body) {
    run(fusion, ranks, LIMIT, body);
  }

  private static void run(
      Fusion fusion, int ranks, Duration deadline, ReducerTest.Body<Boolean> body) {
    try (LocalJob job = LocalJob.over("inproc", ranks)) {
      var unused =
          job.run(
              weft -> {
                var options =
                    DataParallelOptions.of(weft.config())
                        .with(fusion)
                        .withLimits(Duration.ofMillis(200), deadline);
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  Reducer reducer = parallel.reducer(weft.communicator());
                  boolean done = body.run(weft, reducer);
                  reducer.barrier(LIMIT);
                  return done;
                }
              });
    }
  }

  private static TensorView rows(int rows, float value) {
    float[] values = new float[2 * rows];
    Arrays.fill(values, value);
    return new TensorView(DType.FLOAT32, Shape.of(rows, 2), ReducerTest.floats(values).data());
  }

  private static float[] take(Handle<TensorLease> handle) throws InterruptedException {
    try (TensorLease lease = handle.await(LIMIT)) {
      return ReducerTest.floats(lease.view());
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Fusion.class,
      names = {"ON", "OFF"})
  void groupsOfEachKindCompleteInDifferentOrders(Fusion fusion) {
    run(
        fusion,
        4,
        (weft, reducer) -> {
          int rank = weft.rank();
          for (int step = 0; step < 5; step++) {
            List<Allgather> gathers = new ArrayList<>();
            List<ReduceScatter> scatters = new ArrayList<>();
            List<TensorView> outputs = new ArrayList<>();
            List<Broadcast> broadcasts = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
              gathers.add(Allgather.of("g" + i, rows(rank + i, rank)));
              outputs.add(rows(rank < 2 ? 2 : 1, -1));
              scatters.add(
                  ReduceScatter.of("s" + i, rows(6, rank + i), outputs.get(i), ReduceOp.AVERAGE)
                      .scaled(2, 0.5));
              broadcasts.add(Broadcast.of("b" + i, rows(3, rank), i));
            }
            Handle<List<TensorView>> first = null;
            if (rank % 2 == 0) {
              first = reducer.submitAll(scatters);
            }
            Handle<List<TensorLease>> gathered = reducer.submitAll(gathers);
            Handle<List<TensorView>> sent = reducer.submitAll(broadcasts);
            if (first == null) {
              first = reducer.submitAll(scatters);
            }
            List<TensorLease> all = gathered.await(LIMIT);
            List<TensorView> scattered = first.await(LIMIT);
            List<TensorView> copies = sent.await(LIMIT);
            for (int i = 0; i < 3; i++) {
              try (TensorLease lease = all.get(i)) {
                assertThat(lease.view().shape()).isEqualTo(Shape.of(6 + 4 * i, 2));
                assertThat(ReducerTest.floats(lease.view())).isEqualTo(gathered(i));
              }
              assertThat(scattered.get(i)).isSameAs(outputs.get(i));
              assertThat(ReducerTest.floats(scattered.get(i))).containsOnly(1.5f + i);
              assertThat(ReducerTest.floats(copies.get(i))).containsOnly(i);
            }
          }
          return true;
        });
  }

  private static float[] gathered(int more) {
    float[] all = new float[2 * (6 + 4 * more)];
    int at = 0;
    for (int rank = 0; rank < 4; rank++) {
      Arrays.fill(all, at, at + 2 * (rank + more), rank);
      at += 2 * (rank + more);
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aJoinedRankContributesNoRows(int again) {
    run(
        Fusion.ON,
        3,
        (weft, reducer) -> {
          for (int step = 0; weft.rank() != 1 && step < again; step++) {
            assertThat(take(reducer.submit(Allgather.of("g", rows(1, weft.rank())))))
                .containsExactly(0, 0, 2, 2);
            TensorView mine = rows(1, -1);
            var sum = ReduceScatter.of("s", rows(3, 4), mine, ReduceOp.SUM);
            assertThat(ReducerTest.floats(reducer.submit(sum).await(LIMIT))).containsOnly(8);
            var sent = reducer.submit(Broadcast.of("b", rows(1, weft.rank()), 2));
            assertThat(ReducerTest.floats(sent.await(LIMIT))).containsOnly(2);
            assertThatThrownBy(() -> reducer.submit(Broadcast.of("no", rows(1, 5), 1)).await(LIMIT))
                .isInstanceOf(CommException.Broken.class)
                .hasMessageContaining("broadcast 'no'")
                .hasMessageContaining("rank 1")
                .hasMessageContaining("joined");
          }
          assertThat(reducer.join().await(LIMIT)).isBetween(0, 2);
          return true;
        });
  }

  @Test
  void anOperationMayBeSubmittedInTheCallbackOfAJoin() {
    var listening = new CountDownLatch(1);
    run(
        Fusion.ON,
        2,
        (weft, reducer) -> {
          if (weft.rank() == 1) {
            assertThat(listening.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(reducer.join().await(LIMIT)).isBetween(0, 1);
            assertThat(take(reducer.submit(Allgather.of("next", rows(1, 1))))).hasSize(4);
            return true;
          }
          var next = new CompletableFuture<Handle<TensorLease>>();
          reducer
              .join()
              .whenDone(
                  (last, cause) -> {
                    try {
                      next.complete(reducer.submit(Allgather.of("next", rows(1, 0))));
                    } catch (RuntimeException refused) {
                      next.completeExceptionally(refused);
                    }
                  });
          listening.countDown();
          assertThat(take(next.get(LIMIT.toSeconds(), TimeUnit.SECONDS))).hasSize(4);
          return true;
        });
  }

  @ParameterizedTest
  @EnumSource(
      value = Fusion.class,
      names = {"ON", "OFF"})
  void aDifferentRootCollectiveOrRowFailsOnAllRanksAndOthersContinue(Fusion fusion) {
    run(
        fusion,
        2,
        (weft, reducer) -> {
          int rank = weft.rank();
          assertMismatch(reducer.submit(Broadcast.of("root", rows(1, 1), rank)), "root", "from");
          TensorView odd = rank == 0 ? rows(1, 1) : ReducerTest.floats(1, 2);
          assertMismatch(reducer.submit(Allgather.of("row", odd)), "row", "FLOAT32");
          Handle<?> other =
              rank == 0
                  ? reducer.submit(Allgather.of("kind", rows(2, 1)))
                  : reducer.submit(ReduceScatter.of("kind", rows(2, 1), rows(1, 1), ReduceOp.SUM));
          assertMismatch(other, "kind", "FLOAT32");
          assertThat(take(reducer.submit(Allgather.of("row", rows(1, 3))))).hasSize(4);
          return true;
        });
  }

  private static void assertMismatch(Handle<?> handle, String name, String words) {
    assertThatThrownBy(() -> handle.await(LIMIT))
        .isInstanceOf(CommException.Mismatch.class)
        .hasMessageContaining("'" + name + "'")
        .hasMessageContaining(words)
        .hasMessageContaining("rank 1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"output", "root", "scalar", "integer", "arena", "inFlight"})
  void invalidRequestsAreRefusedAtOnceAndNotSubmitted(String what) {
    run(
        Fusion.ON,
        2,
        (weft, reducer) -> {
          assertThatThrownBy(() -> reducer.submit(wrong(what, weft, reducer)))
              .isInstanceOfAny(IllegalArgumentException.class, IllegalStateException.class)
              .hasMessageContaining("'x'");
          var right = ReduceScatter.of("x", rows(2, 1), rows(1, 0), ReduceOp.SUM);
          if (!what.equals("inFlight")) {
            assertThat(ReducerTest.floats(reducer.submit(right).await(LIMIT))).containsOnly(2);
          }
          return true;
        });
  }

  private static CollectiveRequest<?> wrong(String what, Weft weft, Reducer reducer) {
    return switch (what) {
      case "output" -> ReduceScatter.of("x", rows(2, 1), rows(2, 1), ReduceOp.SUM);
      case "root" -> Broadcast.of("x", rows(1, 1), weft.size());
      case "scalar" ->
          Allgather.of("x", new TensorView(DType.UINT8, Shape.of(), Arena.ofAuto().allocate(1)));
      case "integer" -> {
        var bytes = new TensorView(DType.UINT8, Shape.of(2), Arena.ofAuto().allocate(2));
        yield ReduceScatter.of("x", bytes, bytes, ReduceOp.SUM).scaled(2, 1);
      }
      case "arena" ->
          Allgather.of(
              "x", new TensorView(DType.UINT8, Shape.of(2), Arena.ofConfined().allocate(2)));
      default -> {
        var unused = reducer.submit(Broadcast.of("x", rows(1, 1), 0));
        yield Allgather.of("x", rows(1, 1));
      }
    };
  }

  @Test
  void anAllgatherThatARankNeverSubmitsFailsNamingTheRank() {
    run(
        Fusion.ON,
        2,
        Duration.ofSeconds(2),
        (weft, reducer) -> {
          if (weft.rank() == 0) {
            assertThatThrownBy(() -> reducer.submit(Allgather.of("lost", rows(1, 1))).await(LIMIT))
                .isInstanceOf(CommException.Broken.class)
                .hasMessageContaining("rank 1")
                .hasMessageContaining("never submitted 'lost'");
          }
          reducer.barrier(LIMIT);
          assertThat(take(reducer.submit(Allgather.of("other", rows(1, 1))))).hasSize(4);
          return true;
        });
  }

  /// Negotiation rounds run continuously, and each has the sizes of its turn on all ranks.
  @Test
  void sizesChangeBetweenRounds() {
    ReducerTest.negotiated(
        3,
        (weft, reducer) -> {
          for (int turn = 0; turn < 200; turn++) {
            Tuning next = new Tuning(0, 16_384 << turn % 4, 1 << turn % 3);
            var unused = reducer.tune(next).await(LIMIT);
            assertThat(reducer.tuning()).isEqualTo(next);
            var sum = reducer.reduce("g" + turn % 7, ReducerTest.floats(turn)).await(LIMIT);
            assertThat(ReducerTest.floats(sum)).containsExactly(turn);
          }
          return true;
        });
  }
}
