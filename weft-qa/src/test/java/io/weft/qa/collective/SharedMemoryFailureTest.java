// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.transport.spi.Availability;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks ranks that work on each other's memory when one of them fails: all ranks fail, and no
/// rank accesses a tensor after its owner has got it back.
@Timeout(120)
class SharedMemoryFailureTest {

  private static final int RANKS = 3;
  private static final int VICTIM = 1;

  /// One length that is announced by messages and one that is announced in slots.
  private static final int[] ELEMENTS = {900_001, 100_001};

  private static final byte MARK = 0x5a;

  /// The fate of the victim.
  enum End {
    DIES,
    ABORTS,
    LEAVES
  }

  static Stream<Arguments> ends() {
    return Stream.of("inproc", "shm")
        .flatMap(
            scheme ->
                Arrays.stream(End.values())
                    .flatMap(
                        end ->
                            Arrays.stream(ELEMENTS)
                                .mapToObj(elements -> Arguments.of(scheme, end, elements))));
  }

  static void bring(End end, MortalJob job, Weft victim) {
    switch (end) {
      case DIES -> job.kill(VICTIM);
      case ABORTS -> victim.communicator().abort(new CommException.Setup("enough", null));
      case LEAVES -> victim.close();
    }
  }

  @ParameterizedTest(name = "{0}, a rank {1}, {2} elements")
  @MethodSource("ends")
  void noRankAccessesAReturnedTensor(String scheme, End end, int elements) throws Exception {
    assumeThat(MortalJob.provider(scheme).probe()).isInstanceOf(Availability.Available.class);
    for (int round = 0; round < 3; round++) {
      // No rank waits for this deadline.
      WeftConfig config =
          WeftConfig.builder().transport(scheme).deadline(Duration.ofMinutes(10)).build();
      try (MortalJob job = new MortalJob(RANKS, config)) {
        Weft victim = job.rank(VICTIM);
        AtomicInteger sums = new AtomicInteger();
        CyclicBarrier allFailed = new CyclicBarrier(RANKS);
        List<Future<CommException>> ranks = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
          boolean isPrivate = rank < round;
          ranks.add(
              job.start(rank, weft -> sumUntilItFails(weft, elements, isPrivate, sums, allFailed)));
        }
        int enough = RANKS * (2 + round);
        while (sums.get() < enough && ranks.stream().noneMatch(Future::isDone)) {
          Thread.yield();
        }
        bring(end, job, victim);
        for (Future<CommException> rank : ranks) {
          assertThat(rank.get(60, TimeUnit.SECONDS)).as("%s, a rank %s", scheme, end).isNotNull();
        }
      }
    }
  }

  /// Sums until a sum fails, marks its tensor, and checks the marks after all other ranks have
  /// failed, too.
  private static CommException sumUntilItFails(
      Weft weft, int elements, boolean isPrivate, AtomicInteger sums, CyclicBarrier all)
      throws Exception {
    Shape shape = Shape.of(elements);
    try (TensorLease tensor =
        isPrivate
            ? OwnedTensor.allocate(DType.FLOAT32, shape)
            : weft.allocate(DType.FLOAT32, shape)) {
      TensorView view = tensor.view();
      CommException failure = null;
      while (failure == null) {
        try {
          weft.communicator().allreduce(view, view, ReduceOp.MAX, named("g").by("mapped")).await();
          sums.incrementAndGet();
        } catch (CommException e) {
          failure = e;
        }
      }
      view.data().fill(MARK);
      all.await(60, TimeUnit.SECONDS);
      for (byte b : view.data().toArray(ValueLayout.JAVA_BYTE)) {
        if (b != MARK) {
          throw new AssertionError("rank " + weft.rank() + "'s tensor has changed: " + b, failure);
        }
      }
      return failure;
    }
  }
}
