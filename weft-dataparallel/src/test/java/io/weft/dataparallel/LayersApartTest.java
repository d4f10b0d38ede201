// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks that two layers over one communicator do not mix their tensors, whatever the names.
class LayersApartTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int ROUNDS = 20;

  private static DataParallelOptions options(Weft weft, Fusion fusion) {
    return DataParallelOptions.of(weft.config()).with(fusion);
  }

  /// Sums 1 of each rank in `small` and 1000 of each rank in `large`, under one name.
  private static void sumBoth(int rank, Reducer small, Reducer large) throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      TensorView one = ReducerTest.floats(1);
      TensorView thousand = ReducerTest.floats(1000);
      Handle<TensorView> first;
      Handle<TensorView> second;
      if (rank == 0) {
        first = small.allreduce(ReductionRequest.of("g", one, ReduceOp.SUM));
        second = large.allreduce(ReductionRequest.of("g", thousand, ReduceOp.SUM));
      } else {
        second = large.allreduce(ReductionRequest.of("g", thousand, ReduceOp.SUM));
        first = small.allreduce(ReductionRequest.of("g", one, ReduceOp.SUM));
      }
      assertThat(ReducerTest.floats(first.await(LIMIT))).as("round %d", round).containsExactly(2);
      assertThat(ReducerTest.floats(second.await(LIMIT))).containsExactly(2000);
    }
  }

  @ParameterizedTest
  @CsvSource({"inproc,ON,ON", "shm,OFF,OFF", "tcp,AUTO,AUTO", "shm,AUTO,ON", "inproc,OFF,ON"})
  void equalNamesOfTwoLayersDoNotMatch(String transport, Fusion first, Fusion second) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      var unused =
          job.run(
              weft -> {
                try (var small = DataParallel.open(weft, options(weft, first));
                    var large = DataParallel.open(weft, options(weft, second))) {
                  Communicator all = weft.communicator();
                  sumBoth(weft.rank(), small.reducer(all), large.reducer(all));
                }
                return true;
              });
    }
  }

  @Test
  void theLayerOfTheJobMatchesNoOtherAndIsCreatedOnce() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      var unused =
          job.run(
              weft -> {
                DataParallel own = DataParallel.of(weft);
                assertThat(DataParallel.of(weft)).isSameAs(own);
                try (var other = DataParallel.open(weft, options(weft, Fusion.ON))) {
                  Communicator all = weft.communicator();
                  sumBoth(weft.rank(), own.reducer(all), other.reducer(all));
                }
                return true;
              });
    }
  }

  @ParameterizedTest
  @CsvSource({"inproc,ON", "shm,OFF"})
  void aTensorDoesNotMatchAnOperationOfTheCommunicator(String transport, Fusion fusion) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      var unused =
          job.run(
              weft -> {
                try (var parallel = DataParallel.open(weft, options(weft, fusion))) {
                  Communicator all = weft.communicator();
                  Reducer reducer = parallel.reducer(all);
                  TensorView one = ReducerTest.floats(1);
                  TensorView thousand = ReducerTest.floats(1000);
                  var request = ReductionRequest.of("g", one, ReduceOp.SUM);
                  var options = CollectiveOptions.named("g");
                  Handle<TensorView> layer;
                  Handle<TensorView> plain;
                  if (weft.rank() == 0) {
                    layer = reducer.allreduce(request);
                    plain = all.allreduce(thousand, thousand, ReduceOp.SUM, options);
                  } else {
                    plain = all.allreduce(thousand, thousand, ReduceOp.SUM, options);
                    layer = reducer.allreduce(request);
                  }
                  assertThat(ReducerTest.floats(layer.await(LIMIT))).containsExactly(2);
                  assertThat(ReducerTest.floats(plain.await(LIMIT))).containsExactly(2000);
                }
                return true;
              });
    }
  }

  @Test
  void namedLayersOfTwoThreadsAreCreatedInAnyOrder() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      var unused =
          job.run(
              weft -> {
                List<CompletableFuture<Float>> sums =
                    weft.rank() == 0
                        ? List.of(sumOf(weft, "actor", 1), sumOf(weft, "critic", 1000))
                        : List.of(sumOf(weft, "critic", 1000), sumOf(weft, "actor", 1));
                float first = sums.get(weft.rank()).get(60, TimeUnit.SECONDS);
                float second = sums.get(1 - weft.rank()).get(60, TimeUnit.SECONDS);
                assertThat(first).isEqualTo(2);
                assertThat(second).isEqualTo(2000);
                return true;
              });
    }
  }

  /// Creates a layer on a separate thread and sums the value over all ranks.
  private static CompletableFuture<Float> sumOf(Weft weft, String name, float value) {
    CompletableFuture<Float> sum = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              var options = options(weft, Fusion.ON).named(name);
              try (var parallel = DataParallel.open(weft, options)) {
                var request = ReductionRequest.of("g", ReducerTest.floats(value), ReduceOp.SUM);
                Reducer reducer = parallel.reducer(weft.communicator());
                TensorView all = reducer.allreduce(request).await(LIMIT);
                sum.complete(ReducerTest.floats(all)[0]);
              } catch (Throwable t) {
                sum.completeExceptionally(t);
              }
            });
    return sum;
  }

  @Test
  void aSecondThreadNeedsAName() {
    try (LocalJob job = LocalJob.over("inproc", 1)) {
      var unused =
          job.run(
              weft -> {
                try (var first = DataParallel.open(weft);
                    var second = DataParallel.open(weft)) {
                  var reducer = first.reducer(weft.communicator());
                  assertThat(reducer.size()).isEqualTo(1);
                  assertThat(refusalOnAnotherThread(weft, second))
                      .isInstanceOf(IllegalStateException.class)
                      .hasMessageContaining("DataParallelOptions.named");
                  first.close(weft.communicator());
                  assertThat(refusalOnAnotherThread(weft, second)).isNull();
                }
                return true;
              });
    }
  }

  private static Throwable refusalOnAnotherThread(Weft weft, DataParallel parallel)
      throws Exception {
    return CompletableFuture.supplyAsync(() -> parallel.reducer(weft.communicator()))
        .handle((reducer, refusal) -> refusal == null ? null : refusal.getCause())
        .get(60, TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @CsvSource({"inproc,ON", "shm,OFF"})
  void layersThatRanksCreateInDifferentOrdersAreRefused(String transport, Fusion fusion) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      var unused =
          job.run(
              weft -> {
                DataParallel actor;
                DataParallel critic;
                if (weft.rank() == 0) {
                  actor = DataParallel.open(weft, options(weft, fusion));
                  critic = DataParallel.open(weft, options(weft, fusion));
                } else {
                  critic = DataParallel.open(weft, options(weft, fusion));
                  actor = DataParallel.open(weft, options(weft, fusion));
                }
                DataParallel first = weft.rank() == 0 ? actor : critic;
                try (actor;
                    critic) {
                  Reducer reducer = first.reducer(weft.communicator());
                  assertThatThrownBy(
                          () -> {
                            for (int i = 0; i < 100; i++) { // some may succeed before the refusal
                              var unusedSum =
                                  reducer.reduce("g" + i, ReducerTest.floats(1)).await(LIMIT);
                            }
                          })
                      .isInstanceOf(CommException.class)
                      .hasMessageContaining("different orders")
                      .hasMessageContaining("LayersApartTest")
                      .hasMessageContaining("DataParallelOptions.named");
                }
                return true;
              });
    }
  }

  @Test
  void layersOfAProcessSetDoNotMatch() {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      var unused =
          job.run(
              weft -> {
                if (weft.rank() == 2) {
                  return true;
                }
                try (Communicator some = weft.communicator(new ProcessSet(List.of(0, 1)));
                    var small = DataParallel.open(weft, options(weft, Fusion.ON));
                    var large = DataParallel.open(weft, options(weft, Fusion.ON))) {
                  sumBoth(weft.rank(), small.reducer(some), large.reducer(some));
                }
                return true;
              });
    }
  }
}
