// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Allreduce on the memory of all ranks where it lies, against a model, with memory that some ranks
/// share and some do not, and ranks that cannot reach what others offer.
@Timeout(120)
class SharedMemoryTest {

  /// `-Dweft.test.seed=N` replays; `-Dweft.test.collectives=N` sets how many a job runs.
  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());

  private static final int CASES = Integer.getInteger("weft.test.collectives", 60);
  private static final int LONG_ELEMENTS = 150_000;

  /// One allreduce, the same on all ranks. Rank r's tensors are in shared memory if bit r of
  /// `shared` is set.
  record Case(
      int number,
      DType dtype,
      ReduceOp op,
      long elements,
      boolean inPlace,
      int shared,
      boolean chosen,
      long seed) {

    static Case random(int number, int size, SplittableRandom random) {
      int all = (1 << size) - 1;
      int shared = random.nextInt(4) > 0 ? all : random.nextInt(all + 1);
      long most = random.nextInt(12) == 0 ? LONG_ELEMENTS : random.nextBoolean() ? 70 : 9_000;
      return new Case(
          number,
          DType.values()[random.nextInt(DType.values().length)],
          ReduceOp.values()[random.nextInt(ReduceOp.values().length)],
          random.nextLong(most + 1),
          random.nextBoolean(),
          shared,
          random.nextInt(4) > 0,
          random.nextLong());
    }

    Shape shape() {
      return Shape.of(elements);
    }

    CollectiveOptions options() {
      CollectiveOptions options = CollectiveOptions.named("case" + number % 7);
      return chosen ? options.by("shared") : options;
    }

    TensorLease tensor(Weft weft) {
      return (shared >> weft.rank() & 1) == 1
          ? weft.allocate(dtype, shape())
          : OwnedTensor.allocate(dtype, shape());
    }

    OwnedTensor input(int rank) {
      return TensorModel.random(dtype, shape(), new SplittableRandom(seed + rank));
    }

    /// The inputs combined in the order of the ranks, by the kernels that define the bits.
    byte[] expected(int size) {
      try (OwnedTensor sum = input(0)) {
        for (int rank = 1; rank < size; rank++) {
          try (OwnedTensor next = input(rank)) {
            Kernels.reference(dtype, op)
                .reduce(sum.view().data(), 0, next.view().data(), 0, elements);
          }
        }
        if (op == ReduceOp.AVERAGE) {
          Kernels.divide(dtype, sum.view().data(), 0, elements, size);
        }
        return bytes(sum.view());
      }
    }
  }

  private static byte[] bytes(TensorView tensor) {
    return tensor.data().toArray(ValueLayout.JAVA_BYTE);
  }

  private static TransportProvider transport(String scheme) {
    return ServiceLoader.load(TransportProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(provider -> provider.scheme().equals(scheme))
        .findFirst()
        .orElseThrow();
  }

  static Stream<Arguments> jobs() {
    return Stream.of(
        Arguments.of("inproc", 2, Set.of()),
        Arguments.of("inproc", 3, Set.of()),
        Arguments.of("inproc", 4, Set.of()),
        Arguments.of("inproc", 8, Set.of()),
        Arguments.of("inproc", 2, Set.of(1)),
        Arguments.of("inproc", 3, Set.of(0, 1)),
        Arguments.of("inproc", 5, Set.of(1, 3)),
        Arguments.of("shm", 2, Set.of()),
        Arguments.of("shm", 4, Set.of()),
        Arguments.of("shm", 3, Set.of(1)));
  }

  @ParameterizedTest(name = "{0}, {1} ranks, of which {2} cannot reach the others'' memory")
  @MethodSource("jobs")
  void allRanksGetTheSameBits(String scheme, int size, Set<Integer> blind) {
    assumeThat(transport(scheme).probe()).isInstanceOf(Availability.Available.class);
    System.getLogger("weft.test")
        .log(System.Logger.Level.INFO, "replay with -Dweft.test.seed={0}", Long.toString(SEED));
    SplittableRandom random = new SplittableRandom(SEED + size);
    List<Case> cases = new ArrayList<>();
    for (int i = 0; i < CASES; i++) {
      cases.add(Case.random(i, size, random));
    }
    WeftConfig config = WeftConfig.builder().build();
    try (LocalJob job = LocalJob.start(size, config, new BlindProvider(transport(scheme), blind))) {
      List<List<byte[]>> results = job.run(weft -> results(weft, cases));
      for (Case c : cases) {
        byte[] first = results.getFirst().get(c.number());
        for (List<byte[]> ofRank : results) {
          assertThat(Arrays.equals(first, ofRank.get(c.number())))
              .as("same bits on all ranks: %s", c)
              .isTrue();
        }
        if (!c.dtype().floating()
            || (blind.isEmpty() && c.shared() == (1 << size) - 1 && c.chosen())) {
          assertThat(first).as("%s", c).isEqualTo(c.expected(size));
        }
      }
    }
  }

  private static List<byte[]> results(Weft weft, List<Case> cases) throws Exception {
    List<byte[]> results = new ArrayList<>();
    for (Case c : cases) {
      try (TensorLease input = c.tensor(weft);
          TensorLease output = c.tensor(weft);
          OwnedTensor model = c.input(weft.rank())) {
        input.view().data().copyFrom(model.view().data());
        TensorView result = (c.inPlace() ? input : output).view();
        weft.communicator().allreduce(input.view(), result, c.op(), c.options()).await();
        results.add(bytes(result));
        if (!c.inPlace()) {
          assertThat(input.view().data().mismatch(model.view().data())).as("input").isEqualTo(-1);
        }
      }
    }
    return results;
  }

  @Test
  void ranksThatShareNothingAreToldSo() {
    try (LocalJob job = LocalJob.start(2, WeftConfig.builder().transport("tcp").build())) {
      Weft weft = job.ranks().getFirst();
      try (TensorLease tensor = weft.allocate(DType.FLOAT32, Shape.of(8))) {
        assertThatThrownBy(
                () ->
                    weft.communicator()
                        .allreduce(
                            tensor.view(), tensor.view(), ReduceOp.SUM, named("g").by("shared")))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContainingAll("shared", "one host", "ring");
      }
    }
  }
}
