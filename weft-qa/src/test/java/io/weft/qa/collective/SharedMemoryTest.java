// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks allreduce on the ranks' memory in place against a model. Some ranks share their memory
/// and some do not, and some ranks cannot map the memory that others offer.
@Timeout(120)
class SharedMemoryTest {

  private static final int LONG_ELEMENTS = 400_000;

  /// One allreduce, identical on all ranks. Rank r's tensors are in shared memory if bit r of
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
      return chosen ? options.by("mapped") : options;
    }

    TensorLease tensor(Weft weft) {
      return (shared >> weft.rank() & 1) == 1
          ? weft.allocate(dtype, shape())
          : OwnedTensor.allocate(dtype, shape());
    }

    OwnedTensor input(int rank) {
      return TensorModel.random(dtype, shape(), new SplittableRandom(seed + rank));
    }

    byte[] expected(int size) {
      try (OwnedTensor sum = TensorModel.inOrder(dtype, op, size, this::input)) {
        return bytes(sum.view());
      }
    }
  }

  private static byte[] bytes(TensorView tensor) {
    return tensor.data().toArray(ValueLayout.JAVA_BYTE);
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
    for (var result :
        RandomCases.results(scheme, size, blind, Case::random, SharedMemoryTest::result)) {
      Case c = result.one();
      byte[] first = result.byRank().getFirst();
      for (byte[] ofRank : result.byRank()) {
        assertThat(Arrays.equals(first, ofRank)).as("same bits on all ranks: %s", c).isTrue();
      }
      if (!c.dtype().floating()
          || (blind.isEmpty() && c.shared() == (1 << size) - 1 && c.chosen())) {
        assertThat(first).as("%s", c).isEqualTo(c.expected(size));
      }
    }
  }

  private static byte[] result(Weft weft, Case c) throws Exception {
    try (TensorLease input = c.tensor(weft);
        TensorLease output = c.tensor(weft);
        OwnedTensor model = c.input(weft.rank())) {
      input.view().data().copyFrom(model.view().data());
      TensorView result = (c.inPlace() ? input : output).view();
      weft.communicator().allreduce(input.view(), result, c.op(), c.options()).await();
      if (!c.inPlace()) {
        assertThat(input.view().data().mismatch(model.view().data())).as("input").isEqualTo(-1);
      }
      return bytes(result);
    }
  }

  @Test
  void mappedAlgorithmIsRefusedWithoutSharedMemory() {
    try (LocalJob job = LocalJob.start(2, WeftConfig.builder().transport("tcp").build())) {
      Weft weft = job.ranks().getFirst();
      try (TensorLease tensor = weft.allocate(DType.FLOAT32, Shape.of(8))) {
        assertThatThrownBy(
                () ->
                    weft.communicator()
                        .allreduce(
                            tensor.view(), tensor.view(), ReduceOp.SUM, named("g").by("mapped")))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContainingAll("mapped", "one host", "ring");
      }
    }
  }
}
