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

/// Checks thousands of tensors of random type, length, operation and priority. Each rank submits
/// them in another order and with delays. The tensors have more names than the cache holds and do
/// not all fit into one buffer.
class ManyTensorsTest {

  private static final Duration LIMIT = Duration.ofSeconds(120);
  private static final int RANKS = 4;
  private static final int AT_ONCE = 500;
  private static final int NAMES = 1500;
  private static final int CACHED = 1024;

  /// The count of tensors, which exceeds the count of names.
  private static final int TENSORS =
      Integer.getInteger("weft.test.tensors", Boolean.getBoolean("weft.test.long") ? 10_000 : 2500);

  private final long seed = Long.getLong("weft.test.seed", System.nanoTime());

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void randomTensorsInDifferentOrdersAreReducedExactly(String transport) {
    try (LocalJob job = LocalJob.over(transport, RANKS)) {
      var unused =
          job.run(
              weft -> {
                var options =
                    DataParallelOptions.of(weft.config())
                        .with(Fusion.ON)
                        .withThreshold(16 << 10)
                        .withCacheCapacity(CACHED);
                try (DataParallel parallel = DataParallel.open(weft, options)) {
                  Reducer reducer = parallel.reducer(weft.communicator());
                  for (int from = 0; from < TENSORS; from += AT_ONCE) {
                    reduce(reducer, weft.rank(), from);
                  }
                  reducer.barrier(LIMIT);
                }
                return true;
              });
    }
  }

  private void reduce(Reducer reducer, int rank, int from) throws InterruptedException {
    Random order = new Random(seed * 31 + 7L * from + rank);
    List<Integer> numbers = new ArrayList<>();
    for (int t = from; t < from + AT_ONCE; t++) {
      numbers.add(t);
    }
    Collections.shuffle(numbers, order);
    List<Handle<TensorView>> handles = new ArrayList<>();
    for (int number : numbers) {
      if (order.nextInt(50) == 0) {
        LockSupport.parkNanos(order.nextInt(1_000_000));
      }
      handles.add(reducer.allreduce(request(number, rank)));
    }
    for (int i = 0; i < numbers.size(); i++) {
      TensorView result = handles.get(i).await(LIMIT);
      int number = numbers.get(i);
      assertThat(values(result))
          .as("tensor %d, seed %d (set -Dweft.test.seed)", number, seed)
          .isEqualTo(expected(number));
    }
  }

  private record Kind(int elements, boolean floats, ReduceOp op, int priority) {}

  private Kind kind(int number) {
    Random random = new Random(seed + number);
    int elements = random.nextInt(1 << random.nextInt(13));
    ReduceOp op = List.of(ReduceOp.SUM, ReduceOp.MAX, ReduceOp.AVERAGE).get(random.nextInt(3));
    return new Kind(elements, random.nextBoolean(), op, random.nextInt(3));
  }

  private ReductionRequest request(int number, int rank) {
    Kind kind = kind(number);
    MemorySegment memory = Arena.ofAuto().allocate(4L * kind.elements(), 64);
    for (int e = 0; e < kind.elements(); e++) {
      int value = value(number, rank, e);
      if (kind.floats()) {
        memory.setAtIndex(ValueLayout.JAVA_FLOAT, e, value);
      } else {
        memory.setAtIndex(ValueLayout.JAVA_INT, e, value);
      }
    }
    DType dtype = kind.floats() ? DType.FLOAT32 : DType.INT32;
    TensorView tensor = new TensorView(dtype, Shape.of(kind.elements()), memory);
    return ReductionRequest.of("t" + number % NAMES, tensor, kind.op())
        .withPriority(kind.priority());
  }

  /// Returns a multiple of the count of ranks, so that averages are whole numbers.
  private static int value(int number, int rank, int element) {
    return RANKS * ((number * 31 + element * 7) % 1000 + rank);
  }

  private int[] expected(int number) {
    Kind kind = kind(number);
    int[] expected = new int[kind.elements()];
    for (int e = 0; e < expected.length; e++) {
      int sum = 0;
      int most = 0;
      for (int rank = 0; rank < RANKS; rank++) {
        sum += value(number, rank, e);
        most = Math.max(most, value(number, rank, e));
      }
      expected[e] =
          switch (kind.op()) {
            case SUM -> sum;
            case AVERAGE -> sum / RANKS;
            default -> most;
          };
    }
    return expected;
  }

  private static int[] values(TensorView tensor) {
    int[] values = new int[(int) tensor.shape().elements()];
    for (int e = 0; e < values.length; e++) {
      values[e] =
          tensor.dtype() == DType.FLOAT32
              ? (int) tensor.data().getAtIndex(ValueLayout.JAVA_FLOAT, e)
              : tensor.data().getAtIndex(ValueLayout.JAVA_INT, e);
    }
    return values;
  }
}
