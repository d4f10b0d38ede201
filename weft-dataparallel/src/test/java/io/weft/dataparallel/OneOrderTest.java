// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that the bits of a sum do not depend on fusion, order, delays or transport.
class OneOrderTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int TENSORS = 40;

  /// Returns the results of one run: each tensor of each rank.
  private static List<List<byte[]>> run(String transport, Fusion fusion, int ranks, long delays) {
    try (LocalJob job = LocalJob.over(transport, ranks)) {
      return job.run(
          weft -> {
            var options = DataParallelOptions.of(weft.config()).with(fusion).withThreshold(1 << 20);
            try (DataParallel parallel = DataParallel.open(weft, options)) {
              Reducer reducer = parallel.reducer(weft.communicator());
              List<byte[]> results = reduce(reducer, weft.rank(), new Random(delays + weft.rank()));
              reducer.barrier(LIMIT);
              return results;
            }
          });
    }
  }

  private static List<byte[]> reduce(Reducer reducer, int rank, Random delays)
      throws InterruptedException {
    List<Integer> order = new ArrayList<>();
    for (int t = 0; t < TENSORS; t++) {
      order.add(t);
    }
    Collections.shuffle(order, delays);
    List<Handle<TensorView>> handles = new ArrayList<>(Collections.nCopies(TENSORS, null));
    for (int t : order) {
      if (delays.nextInt(4) == 0) {
        LockSupport.parkNanos(delays.nextInt(500_000));
      }
      var request = ReductionRequest.of("t" + t, tensor(t, rank), ReduceOp.AVERAGE);
      handles.set(t, reducer.allreduce(request.scaled(0.7, 1.3)));
    }
    List<byte[]> results = new ArrayList<>();
    for (Handle<TensorView> handle : handles) {
      results.add(handle.await(LIMIT).data().toArray(ValueLayout.JAVA_BYTE));
    }
    return results;
  }

  /// Returns a tensor of a few bytes to some hundred thousand, so that a run uses all ways and
  /// algorithms.
  private static TensorView tensor(int number, int rank) {
    Random random = new Random(1000L * number + rank);
    int elements = 1 + new Random(number).nextInt(1 << 1 + number % 17);
    MemorySegment memory = Arena.ofAuto().allocate(4L * elements, 64);
    for (int e = 0; e < elements; e++) {
      memory.setAtIndex(
          ValueLayout.JAVA_FLOAT, e, (random.nextFloat() - 0.5f) * (1 << random.nextInt(20)));
    }
    return new TensorView(DType.FLOAT32, Shape.of(elements), memory);
  }

  @ParameterizedTest(name = "{0} ranks")
  @ValueSource(ints = {3, 4, 5})
  void bitsAreTheSameForEveryTransportAndFusion(int ranks) {
    List<byte[]> expected = run("inproc", Fusion.OFF, ranks, 1).getFirst();
    long delays = 2;
    for (String transport : List.of("inproc", "tcp", "shm")) {
      for (Fusion fusion : List.of(Fusion.OFF, Fusion.ON)) {
        List<List<byte[]>> all = run(transport, fusion, ranks, delays);
        delays += 100;
        for (int rank = 0; rank < ranks; rank++) {
          for (int t = 0; t < TENSORS; t++) {
            assertThat(all.get(rank).get(t))
                .as("tensor %d, rank %d, %s, fusion %s", t, rank, transport, fusion)
                .isEqualTo(expected.get(t));
          }
        }
      }
    }
  }
}
