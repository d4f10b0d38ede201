// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.qa.collective.SharedMemoryFailureTest.End;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.transport.spi.Availability;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks ranks that read each other's memory when one of them fails: all ranks fail, and an
/// operation that still completes has the data from before the failure.
@Timeout(120)
class SharedCollectivesFailureTest {

  private static final int RANKS = 3;
  private static final int VICTIM = 1;
  private static final int BYTES = 1_100_001;
  private static final byte MARK = -1;

  static Stream<Arguments> ends() {
    return SharedMemoryFailureTest.ends();
  }

  @ParameterizedTest(name = "{0}, a rank {1}")
  @MethodSource("ends")
  void noRankCompletesWithBytesOfAReturnedTensor(String scheme, End end) throws Exception {
    assumeThat(MortalJob.provider(scheme).probe()).isInstanceOf(Availability.Available.class);
    for (int round = 0; round < 2; round++) {
      WeftConfig config =
          WeftConfig.builder().transport(scheme).deadline(Duration.ofSeconds(4)).build();
      try (MortalJob job = new MortalJob(RANKS, config)) {
        Weft victim = job.rank(VICTIM);
        AtomicInteger completed = new AtomicInteger();
        List<Future<CommException>> ranks = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
          ranks.add(job.start(rank, weft -> exchangeUntilItFails(weft, completed)));
        }
        int enough = RANKS * (2 + round);
        while (completed.get() < enough && ranks.stream().noneMatch(Future::isDone)) {
          Thread.yield();
        }
        SharedMemoryFailureTest.bring(end, job, victim);
        for (Future<CommException> rank : ranks) {
          assertThat(rank.get(60, TimeUnit.SECONDS)).as("%s, a rank %s", scheme, end).isNotNull();
        }
      }
    }
  }

  /// Gathers and broadcasts until an operation fails, and then overwrites its tensor at once.
  private static CommException exchangeUntilItFails(Weft weft, AtomicInteger completed)
      throws Exception {
    try (TensorLease lease = weft.allocate(DType.INT8, Shape.of(BYTES))) {
      TensorView tensor = lease.view();
      try {
        for (int use = 0; ; use++) {
          byte content = (byte) (use % 100);
          tensor.data().fill(content);
          if (use % 2 == 0) {
            var gathered = weft.communicator().allgather(tensor, named("g"));
            try (TensorLease all = gathered.await()) {
              check(weft, all.view().data(), content);
            }
          } else {
            if (weft.rank() != use % RANKS) {
              tensor.data().fill(MARK);
            }
            weft.communicator().broadcast(tensor, use % RANKS, named("b")).await();
            check(weft, tensor.data(), content);
          }
          completed.incrementAndGet();
        }
      } catch (CommException failure) {
        tensor.data().fill(MARK);
        return failure;
      }
    }
  }

  private static void check(Weft weft, MemorySegment got, byte content) {
    byte[] expected = new byte[Math.toIntExact(got.byteSize())];
    Arrays.fill(expected, content);
    long wrong = got.mismatch(MemorySegment.ofArray(expected));
    if (wrong >= 0) {
      throw new AssertionError("rank %d, byte %d".formatted(weft.rank(), wrong));
    }
  }
}
