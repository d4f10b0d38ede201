// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that trainings with randomly delayed ranks end with bitwise equal weights.
@Timeout(240)
class DelayedTrainingTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int RANKS = 3;
  private static final int STEPS = 5;

  /// The count of trainings for each way.
  private static final int TRAININGS =
      Integer.getInteger("weft.test.trainings", Boolean.getBoolean("weft.test.long") ? 20 : 4);

  /// The elements of each variable. Some variables share a buffer. The last is sent alone if
  /// buffers are short.
  private static final int[] SIZES = {1, 10, 100, 7, 1000, 64, 3000, 5, 2048, 20_000};

  /// A way in which gradients are sent in some of the trainings.
  private record Way(String transport, Fusion fusion, long threshold) {}

  private static final List<Way> WAYS =
      List.of(
          new Way("tcp", Fusion.ON, 1 << 20),
          new Way("tcp", Fusion.ON, 16_384),
          new Way("inproc", Fusion.ON, 4096),
          new Way("shm", Fusion.ON, 1 << 20),
          new Way("shm", Fusion.OFF, 4096));

  @Test
  void trainingsEndWithTheSameBits() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    Set<Long> digests = new HashSet<>();
    int trainings = 0;
    for (Way way : WAYS) {
      try (LocalJob job = LocalJob.over(way.transport(), RANKS)) {
        long delays = seed + trainings;
        List<List<Long>> ofRanks =
            job.run(
                weft -> new Training(weft.rank(), new Random(delays + weft.rank())).run(weft, way));
        ofRanks.forEach(digests::addAll);
        trainings += ofRanks.getFirst().size();
      }
    }
    assertThat(trainings).isEqualTo(WAYS.size() * TRAININGS);
    assertThat(digests)
        .as("digests of weights, seed of delays %d (set -Dweft.test.seed)", seed)
        .hasSize(1);
  }

  @Test
  void weightsThatDifferInOneBitHaveAnotherDigest() {
    Training one = new Training(0, new Random(1));
    long before = one.digest();
    one.weights.getFirst().data().set(ValueLayout.JAVA_INT, 0, 1);
    assertThat(one.digest()).isNotEqualTo(before);
  }

  /// The trainings of one rank, each with the same weights and data but with other delays.
  private static final class Training {

    private final int rank;
    private final Random delays;
    private final List<TensorView> weights = new ArrayList<>();
    private final List<TensorView> gradients = new ArrayList<>();

    Training(int rank, Random delays) {
      this.rank = rank;
      this.delays = delays;
      for (int size : SIZES) {
        weights.add(tensor(size));
        gradients.add(tensor(size));
      }
    }

    private static TensorView tensor(int elements) {
      MemorySegment memory = Arena.ofAuto().allocate(4L * elements, 64);
      return new TensorView(DType.FLOAT32, Shape.of(elements), memory);
    }

    List<Long> run(Weft weft, Way way) throws InterruptedException {
      var options =
          DataParallelOptions.of(weft.config()).with(way.fusion()).withThreshold(way.threshold());
      List<Long> digests = new ArrayList<>();
      try (DataParallel parallel = DataParallel.open(weft, options)) {
        Reducer reducer = parallel.reducer(weft.communicator());
        for (int t = 0; t < TRAININGS; t++) {
          weights.forEach(weight -> weight.data().fill((byte) 0));
          for (int step = 0; step < STEPS; step++) {
            step(reducer, step);
          }
          digests.add(digest());
        }
        reducer.barrier(LIMIT);
      }
      return digests;
    }

    /// Runs a step of least squares: each rank pulls the weights towards its own targets, which
    /// change with the step.
    private void step(Reducer reducer, int step) throws InterruptedException {
      List<Integer> order = new ArrayList<>(IntStream.range(0, SIZES.length).boxed().toList());
      Collections.shuffle(order, delays);
      List<Handle<TensorView>> handles = new ArrayList<>();
      for (int v : order) {
        if (delays.nextInt(3) == 0) {
          LockSupport.parkNanos(delays.nextInt(1_000_000));
        }
        Random target = new Random(1000L * v + 10L * step + rank);
        MemorySegment gradient = gradients.get(v).data();
        for (int e = 0; e < SIZES[v]; e++) {
          float weight = weights.get(v).data().getAtIndex(ValueLayout.JAVA_FLOAT, e);
          float pulled = weight - (target.nextFloat() - 0.5f) * (1 << target.nextInt(20));
          gradient.setAtIndex(ValueLayout.JAVA_FLOAT, e, pulled);
        }
        handles.add(reducer.reduce("weight" + v, gradients.get(v), gradients.get(v)));
      }
      for (Handle<TensorView> handle : handles) {
        var unused = handle.await(LIMIT);
      }
      for (int v = 0; v < SIZES.length; v++) {
        for (int e = 0; e < SIZES[v]; e++) {
          float weight = weights.get(v).data().getAtIndex(ValueLayout.JAVA_FLOAT, e);
          float gradient = gradients.get(v).data().getAtIndex(ValueLayout.JAVA_FLOAT, e);
          weights.get(v).data().setAtIndex(ValueLayout.JAVA_FLOAT, e, weight - 0.3f * gradient);
        }
      }
    }

    long digest() {
      var crc = new CRC32C();
      weights.forEach(weight -> crc.update(weight.data().asByteBuffer()));
      return crc.getValue();
    }
  }
}
