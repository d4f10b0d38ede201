// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.ProcessSet;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks short allreduces of ranks that share memory, in step and out of step with each other,
/// with tensors that fit in a slot and with tensors that a slot offers.
@Timeout(120)
class SlotAllreduceTest {

  /// `-Dweft.test.seed=N` replays a run.
  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());

  private static final int ROUNDS = 60;

  /// Slightly more than the length that fits in a slot.
  private static final int MOST_ELEMENTS = 120;

  /// The largest length of tensors that are offered in a slot.
  private static final int MOST_OFFERED = 20_000;

  private static LocalJob job(String scheme, int size, Set<Integer> blind) {
    TransportProvider provider = TransportProvider.find(scheme).orElseThrow();
    assumeThat(provider.probe()).isInstanceOf(Availability.Available.class);
    return LocalJob.start(size, WeftConfig.builder().build(), new BlindProvider(provider, blind));
  }

  static Stream<Arguments> jobs() {
    return Stream.of(
        Arguments.of("inproc", 2, Set.of()),
        Arguments.of("inproc", 3, Set.of()),
        Arguments.of("inproc", 5, Set.of()),
        Arguments.of("inproc", 3, Set.of(1)),
        Arguments.of("shm", 2, Set.of()),
        Arguments.of("shm", 4, Set.of()));
  }

  /// In each round, each rank submits some operations in its own order, awaits some of them before
  /// it submits the others, and awaits those in another order.
  @ParameterizedTest(name = "{0}, {1} ranks, of which {2} cannot reach the others'' memory")
  @MethodSource("jobs")
  void sumsAreCorrectInAnyOrderOfSubmission(String scheme, int size, Set<Integer> blind) {
    System.getLogger("weft.test")
        .log(System.Logger.Level.INFO, "replay with -Dweft.test.seed={0}", Long.toString(SEED));
    try (LocalJob job = job(scheme, size, blind)) {
      job.run(
          weft -> {
            SplittableRandom same = new SplittableRandom(SEED + size);
            Random own = new Random(SEED * 31 + weft.rank());
            for (int round = 0; round < ROUNDS; round++) {
              round(weft, same, own);
            }
            return true;
          });
    }
  }

  private static void round(Weft weft, SplittableRandom same, Random own) throws Exception {
    int count = 1 + same.nextInt(same.nextInt(5) == 0 ? 20 : 3);
    boolean mixed = same.nextInt(3) == 0;
    List<TensorLease> tensors = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int most = same.nextInt(3) == 0 ? MOST_OFFERED : MOST_ELEMENTS;
      TensorLease t = tensor(weft, Shape.of(1 + same.nextInt(most)), own);
      fill(t.view(), 7 * i + weft.rank());
      tensors.add(t);
    }
    List<Integer> order = new ArrayList<>(IntStream.range(0, count).boxed().toList());
    if (mixed) {
      Collections.shuffle(order, own);
    }
    List<TensorLease> results = new ArrayList<>();
    for (TensorLease t : tensors) {
      results.add(tensor(weft, t.view().shape(), own));
    }
    Map<Integer, Handle<TensorView>> pending = new HashMap<>();
    for (int i : order) {
      TensorView t = tensors.get(i).view();
      TensorView into = own.nextInt(3) == 0 ? t : results.get(i).view();
      pending.put(i, sum(weft, t, into, "t" + i));
      if (!mixed && own.nextBoolean()) {
        var unused = pending.get(i).await();
      }
    }
    Collections.shuffle(order, own);
    for (int i : order) {
      var unused = pending.get(i).await();
    }
    int ranks = weft.size();
    for (int i = 0; i < count; i++) {
      int sum = 7 * i * ranks + ranks * (ranks - 1) / 2;
      int[] got = pending.get(i).await().data().toArray(ValueLayout.JAVA_INT);
      for (int e = 0; e < got.length; e++) {
        assertThat(got[e]).as("element %d of t%d, seed %d", e, i, SEED).isEqualTo(sum + e * ranks);
      }
      tensors.get(i).close();
      results.get(i).close();
    }
  }

  private static TensorLease tensor(Weft weft, Shape shape, Random own) {
    return own.nextBoolean()
        ? OwnedTensor.allocate(DType.INT32, shape)
        : weft.allocate(DType.INT32, shape);
  }

  private static void fill(TensorView tensor, int first) {
    for (int e = 0; e < tensor.shape().elements(); e++) {
      tensor.data().setAtIndex(ValueLayout.JAVA_INT, e, first + e);
    }
  }

  /// One rank submits a, then b. The other ranks await b before they submit a.
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5})
  void theSecondOperationCompletesBeforeTheFirst(int size) {
    try (LocalJob job = job("inproc", size, Set.of())) {
      job.run(
          weft -> {
            try (OwnedTensor a = OwnedTensor.allocate(DType.INT32, Shape.of(1));
                OwnedTensor b = OwnedTensor.allocate(DType.INT32, Shape.of(1))) {
              for (int i = 0; i < 30; i++) {
                fill(a.view(), 1);
                fill(b.view(), weft.rank());
                if (weft.rank() == i % size) {
                  Handle<TensorView> first = sum(weft, a, "a");
                  assertThat(value(sum(weft, b, "b").await())).isEqualTo(size * (size - 1) / 2);
                  assertThat(value(first.await())).isEqualTo(size);
                } else {
                  assertThat(value(sum(weft, b, "b").await())).isEqualTo(size * (size - 1) / 2);
                  assertThat(value(sum(weft, a, "a").await())).isEqualTo(size);
                }
              }
            }
            return true;
          });
    }
  }

  private static Handle<TensorView> sum(Weft weft, OwnedTensor tensor, String name) {
    return sum(weft, tensor.view(), tensor.view(), name);
  }

  private static Handle<TensorView> sum(Weft weft, TensorView from, TensorView to, String name) {
    return weft.communicator().allreduce(from, to, ReduceOp.SUM, named(name));
  }

  private static int value(TensorView tensor) {
    return tensor.data().get(ValueLayout.JAVA_INT, 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm"})
  void aDisagreementIsNamedAndLaterOperationsWork(String scheme) {
    try (LocalJob job = job(scheme, 2, Set.of())) {
      job.run(
          weft -> {
            try (OwnedTensor one = OwnedTensor.allocate(DType.INT32, Shape.of(1));
                OwnedTensor mine =
                    OwnedTensor.allocate(DType.INT32, Shape.of(1 + 5_000 * weft.rank()))) {
              assertThat(value(sum(weft, one, "warm").await())).isZero();
              assertThatThrownBy(() -> sum(weft, mine, "odd").await())
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContainingAll("'odd'", "INT32[1]", "INT32[5001]");
              for (int i = 0; i < 40; i++) {
                fill(one.view(), weft.rank() + i);
                assertThat(value(sum(weft, one, "after").await())).isEqualTo(2 * i + 1);
              }
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm"})
  void aRankThatDoesNotSubmitIsNamedAtTheDeadline(String scheme) {
    try (LocalJob job = job(scheme, 3, Set.of())) {
      List<String> messages =
          job.run(
              weft -> {
                try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(1))) {
                  for (int i = 0; i < 5; i++) {
                    var unused = sum(weft, t, "warm").await();
                  }
                  if (weft.rank() == 2) {
                    return "";
                  }
                  var options = named("alone").within(Duration.ofMillis(800));
                  CommException e =
                      catchThrowableOfType(
                          CommException.class,
                          () ->
                              weft.communicator()
                                  .allreduce(t.view(), t.view(), ReduceOp.SUM, options)
                                  .await());
                  return e.getMessage();
                }
              });
      assertThat(messages.getFirst()).contains("'alone'", "rank 2", "has not submitted it");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm"})
  void closedCommunicatorsReleaseTheirMemory(String scheme) {
    try (LocalJob job = job(scheme, 2, Set.of())) {
      job.run(
          weft -> {
            try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(1))) {
              for (int c = 0; c < 150; c++) {
                try (Communicator comm = weft.communicator(new ProcessSet(List.of(1, 0)))) {
                  for (int i = 0; i < 4; i++) {
                    fill(t.view(), c + weft.rank());
                    var sum = comm.allreduce(t.view(), t.view(), ReduceOp.SUM, named("s"));
                    assertThat(value(sum.await())).isEqualTo(2 * c + 1);
                  }
                }
              }
            }
            return true;
          });
    }
  }

  /// Ranks that leave right after the last operation complete it.
  @ParameterizedTest
  @CsvSource({"inproc, 1", "shm, 1", "inproc, 5000", "shm, 5000", "shm, 500000"})
  void allRanksCompleteTheLastOperationBeforeTheyLeave(String scheme, int elements) {
    for (int i = 0; i < 5; i++) {
      try (LocalJob job = job(scheme, 2, Set.of())) {
        job.run(
            weft -> {
              try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(elements))) {
                for (int n = 0; n < 8; n++) {
                  fill(t.view(), 1);
                  assertThat(value(sum(weft, t, "last").await())).isEqualTo(2);
                }
              }
              weft.close();
              return true;
            });
      }
    }
  }
}
