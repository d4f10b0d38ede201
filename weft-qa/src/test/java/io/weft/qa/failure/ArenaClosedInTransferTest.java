// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks an arena that is closed at any moment of a transfer out of it or into it: an exception in
/// the copies of a transport fails that operation only, and an operation that one of the ranks
/// considers done has the right data.
@Timeout(120)
class ArenaClosedInTransferTest {

  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int ROUNDS = Boolean.getBoolean("weft.test.long") ? 40 : 16;
  private static final long LONGEST_DELAY_NANOS = 1_500_000;
  private static final String BROKEN = ".*arena was closed.*";

  static Stream<Arguments> cases() {
    return Stream.of("inproc", "shm")
        .flatMap(
            scheme ->
                Stream.of(900, 12_000, 2_000_000).map(elements -> Arguments.of(scheme, elements)));
  }

  @ParameterizedTest(name = "{0}, {1} elements")
  @MethodSource("cases")
  void anArenaClosedDuringATransferFailsThatOperationOnly(String scheme, int elements) {
    try (LocalJob job = LocalJob.over(scheme, 2)) {
      for (int round = 0; round < ROUNDS; round++) {
        long delay = ThreadLocalRandom.current().nextLong(LONGEST_DELAY_NANOS);
        int closer = round % 2;
        boolean gathers = round % 4 < 2;
        String name = "round-" + round;
        List<String> ends =
            job.run(weft -> end(weft, elements, gathers, name, weft.rank() == closer, delay));
        assertThat(ends).as(name).allMatch(end -> end.equals("done") || end.matches(BROKEN));
      }
      assertThat(job.run(ArenaClosedInTransferTest::barrier)).containsOnly("done");
    }
  }

  private static String barrier(Weft weft) throws InterruptedException {
    var unused = weft.communicator().barrier(named("after")).await(LIMIT);
    return "done";
  }

  private static String end(
      Weft weft, int elements, boolean gathers, String name, boolean closes, long delayNanos)
      throws InterruptedException {
    Arena arena = Arena.ofShared();
    boolean open = true;
    try {
      TensorView tensor =
          new TensorView(DType.INT32, Shape.of(elements), arena.allocate(4L * elements, 64));
      fill(tensor.data(), 1 + weft.rank());
      Communicator all = weft.communicator();
      Handle<TensorLease> gathered = gathers ? all.allgather(tensor, named(name)) : null;
      Handle<TensorView> sent = gathers ? null : all.broadcast(tensor, 0, named(name));
      if (closes) {
        LockSupport.parkNanos(delayNanos);
        arena.close();
        open = false;
      }
      if (gathered != null) {
        try (TensorLease lease = gathered.await(LIMIT)) {
          check(lease.view().data(), 0, elements, 1);
          check(lease.view().data(), elements, elements, 2);
        }
      } else if (sent != null) {
        MemorySegment got = sent.await(LIMIT).data();
        if (open) {
          check(got, 0, elements, 1);
        }
      }
      return "done";
    } catch (CommException.Broken broken) {
      return String.valueOf(broken.getMessage());
    } finally {
      if (open) {
        arena.close();
      }
    }
  }

  private static void fill(MemorySegment data, int value) {
    for (long at = 0; at < data.byteSize(); at += 4) {
      data.set(ValueLayout.JAVA_INT, at, value);
    }
  }

  private static void check(MemorySegment data, long first, int elements, int value) {
    for (long i = first; i < first + elements; i++) {
      if (data.get(ValueLayout.JAVA_INT, 4 * i) != value) {
        throw new AssertionError("element " + i + " of a tensor that is said to be there");
      }
    }
  }
}
