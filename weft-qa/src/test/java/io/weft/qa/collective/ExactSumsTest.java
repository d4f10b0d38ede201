// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.Handle;
import io.weft.shm.Elsewhere;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks that sums of integers of random lengths up to 8 MiB are exact to the last bit. Half of
/// the lengths are below 3 KiB.
class ExactSumsTest {

  /// `-Dweft.test.seed=N` replays a run. `-Dweft.test.sums=N` sets the number of sums per job.
  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());

  private static final int SUMS =
      Integer.getInteger("weft.test.sums", Boolean.getBoolean("weft.test.long") ? 40 : 16);
  private static final int IN_FLIGHT = 4;
  private static final double MOST_BYTES = 8 << 20;
  private static final List<DType> INTEGERS =
      Stream.of(DType.values()).filter(type -> !type.floating()).toList();

  /// One sum, identical on all ranks except for the memory of its tensors.
  ///
  /// @param algorithm the algorithm, or an empty string for Weft's choice
  /// @param own true if the tensors are in memory that Weft allocates
  private record Sum(
      String name,
      DType dtype,
      long elements,
      String algorithm,
      boolean inPlace,
      boolean own,
      long seed) {

    static Sum random(int number, SplittableRandom random) {
      DType dtype = INTEGERS.get(random.nextInt(INTEGERS.size()));
      long bytes = (long) Math.pow(MOST_BYTES, random.nextDouble());
      List<String> algorithms = Algorithms.allreduceNames();
      boolean named = random.nextInt(4) == 0;
      return new Sum(
          "sum" + number % 31,
          dtype,
          Math.max(1, bytes / dtype.bytes()),
          named ? algorithms.get(random.nextInt(algorithms.size())) : "",
          random.nextBoolean(),
          random.nextBoolean(),
          random.nextLong());
    }

    CollectiveOptions options() {
      CollectiveOptions named = CollectiveOptions.named(name);
      return algorithm.isEmpty() ? named : named.by(algorithm);
    }

    TensorLease tensor(Weft weft) {
      Shape shape = Shape.of(elements);
      return own ? weft.allocate(dtype, shape) : OwnedTensor.allocate(dtype, shape);
    }
  }

  static Stream<Arguments> jobs() {
    return Stream.of("shm", "tcp", "mixed")
        .flatMap(
            transport -> IntStream.rangeClosed(2, 5).mapToObj(n -> Arguments.of(transport, n)));
  }

  @ParameterizedTest(name = "{0}, {1} ranks")
  @MethodSource("jobs")
  void sumsOfAnyLengthAreExact(String transport, int size) {
    System.Logger log = System.getLogger("weft.test");
    log.log(System.Logger.Level.INFO, "replay with -Dweft.test.seed={0}", Long.toString(SEED));
    SplittableRandom random = new SplittableRandom(SEED + size);
    try (LocalJob job = start(transport, size)) {
      for (int done = 0; done < SUMS; done += IN_FLIGHT) {
        List<Sum> sums = new ArrayList<>();
        for (int i = done; i < Math.min(SUMS, done + IN_FLIGHT); i++) {
          sums.add(Sum.random(i, random));
        }
        var unused = job.run(weft -> sumAll(weft, sums));
      }
    }
  }

  /// Starts a job. In a mixed one, neighboring ranks share no memory, and all other ranks do.
  private static LocalJob start(String transport, int size) {
    if (!transport.equals("mixed")) {
      return LocalJob.over(transport, size);
    }
    List<String> hosts = IntStream.range(0, size).mapToObj(r -> "host" + r % 2).toList();
    return LocalJob.across(hosts, WeftConfig.builder().transport("shm").build(), Elsewhere::new);
  }

  private record Running(Sum sum, TensorLease input, TensorLease output, Handle<?> handle) {}

  private static boolean sumAll(Weft weft, List<Sum> sums) throws Exception {
    List<Sum> shuffled = new ArrayList<>(sums);
    Collections.shuffle(shuffled, new Random(weft.rank() + sums.getFirst().seed()));
    List<Running> running = new ArrayList<>();
    for (Sum sum : shuffled) {
      TensorLease input = sum.tensor(weft);
      TensorLease output = sum.inPlace() ? input : sum.tensor(weft);
      Repeated.of(sum.dtype(), sum.seed() + weft.rank()).fill(input.view());
      TensorView in = input.view();
      running.add(
          new Running(
              sum,
              input,
              output,
              weft.communicator().allreduce(in, output.view(), ReduceOp.SUM, sum.options())));
    }
    for (Running one : running) {
      var unused = one.handle().await();
      Sum sum = one.sum();
      assertThat(Repeated.sum(sum.dtype(), sum.seed(), weft.size()).mismatch(one.output().view()))
          .as("first wrong byte of %s on rank %d", sum, weft.rank())
          .isEqualTo(-1);
      one.input().close();
      one.output().close();
    }
    return true;
  }
}
