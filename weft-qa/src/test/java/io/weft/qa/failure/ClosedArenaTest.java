// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks a tensor whose arena is closed during its operation: that operation fails on all ranks,
/// and nothing else does.
@Timeout(120)
class ClosedArenaTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);

  static Stream<Arguments> cases() {
    return Stream.of("inproc", "shm", "tcp")
        .flatMap(
            scheme ->
                Stream.of(1, 3, 3_000, 12_000, 100_000, 3_000_000, 8_000_000)
                    .filter(elements -> !scheme.equals("tcp") || elements <= 12_000)
                    .map(elements -> Arguments.of(scheme, elements)));
  }

  @ParameterizedTest(name = "{0}, {1} elements")
  @MethodSource("cases")
  void anArenaClosedBeforeAwaitFailsThatOperationOnly(String scheme, int elements) {
    try (LocalJob job = LocalJob.over(scheme, 2)) {
      CountDownLatch closed = new CountDownLatch(1);
      List<String> ends =
          job.run(
              weft -> {
                Communicator all = weft.communicator();
                String end;
                try (Arena arena = Arena.ofShared()) {
                  Arena own = weft.rank() == 0 ? Arena.ofShared() : arena;
                  TensorView tensor = tensor(own, elements);
                  if (weft.rank() == 1) {
                    closed.await();
                  }
                  Handle<TensorView> handle =
                      all.allreduce(tensor, tensor, ReduceOp.SUM, named("lost"));
                  if (weft.rank() == 0) {
                    own.close();
                    closed.countDown();
                  }
                  end = end(handle);
                }
                checkSum(weft);
                return end;
              });
      assertThat(ends.get(0)).contains("rank 0", "'lost'", "arena was closed", "await");
      // Rank 1 may have received the data before the arena was closed.
      assertThat(ends.get(1)).matches("done|rank 0 .*'lost'.*arena was closed.*said by rank 0.*");
    }
  }

  /// At any moment, either the operation fails on this rank, or `close` is refused because the
  /// memory is in use, and the operation completes normally.
  @ParameterizedTest(name = "{0}, {1} elements")
  @MethodSource("cases")
  void anArenaClosedInFlightEndsNoProcess(String scheme, int elements) {
    try (LocalJob job = LocalJob.over(scheme, 2)) {
      job.run(
          weft -> {
            var random = new SplittableRandom(elements);
            for (int round = 0; round < 12; round++) {
              long delayNanos = random.nextLong(2_000_000);
              try (Arena others = Arena.ofShared()) {
                Arena own = weft.rank() == 0 ? Arena.ofShared() : others;
                TensorView tensor = tensor(own, elements);
                Handle<TensorView> handle =
                    weft.communicator()
                        .allreduce(tensor, tensor, ReduceOp.SUM, named("round-" + round));
                boolean open = weft.rank() != 0 || !closesAfter(delayNanos, own);
                String end = end(handle);
                if (weft.rank() == 0 && open) {
                  assertThat(end).isEqualTo("done");
                  own.close();
                }
              }
            }
            checkSum(weft);
            return "";
          });
    }
  }

  private static boolean closesAfter(long nanos, Arena arena) {
    LockSupport.parkNanos(nanos);
    try {
      arena.close();
      return true;
    } catch (IllegalStateException held) {
      return false;
    }
  }

  private static String end(Handle<?> handle) throws InterruptedException {
    try {
      var unused = handle.await(LIMIT);
      return "done";
    } catch (CommException.Broken failure) {
      return String.valueOf(failure.getMessage());
    }
  }

  private static TensorView tensor(Arena arena, int elements) {
    return new TensorView(DType.FLOAT32, Shape.of(elements), arena.allocate(4L * elements, 64));
  }

  /// Checks that the communicator and the rank are still usable.
  private static void checkSum(Weft weft) throws InterruptedException {
    for (int elements : List.of(1, 5_000, 1_000_000)) {
      try (OwnedTensor mine = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
        mine.view().data().set(ValueLayout.JAVA_FLOAT, 4L * elements - 4, 1 + weft.rank());
        var unused =
            weft.communicator()
                .allreduce(mine.view(), mine.view(), ReduceOp.SUM, named("works-on-" + elements))
                .await(LIMIT);
        assertThat(mine.view().data().get(ValueLayout.JAVA_FLOAT, 4L * elements - 4)).isEqualTo(3);
      }
    }
  }
}
