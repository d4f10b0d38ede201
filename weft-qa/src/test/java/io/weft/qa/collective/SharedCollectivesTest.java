// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks broadcast, allgather, reduceScatter and alltoall on the ranks' memory in place against a
/// model. Some ranks share their memory and some do not, and some ranks cannot map the memory that
/// others offer.
@Timeout(120)
class SharedCollectivesTest {

  private static final int LONG_ROWS = 60_000;

  enum What {
    BROADCAST,
    ALLGATHER,
    REDUCE_SCATTER,
    ALLTOALL
  }

  /// One collective, identical on all ranks. Rank r's tensors are in shared memory if bit r of
  /// `shared` is set. `rows[r][d]` is the number of rows from rank r to rank d in an alltoall; in
  /// other collectives the sum of line r is rank r's number of rows.
  record Case(
      int number,
      What what,
      DType dtype,
      ReduceOp op,
      long[][] rows,
      int columns,
      int root,
      int shared,
      boolean chosen,
      long seed) {

    static Case random(int number, int size, SplittableRandom random) {
      What what = What.values()[random.nextInt(What.values().length)];
      int all = (1 << size) - 1;
      long most = random.nextInt(12) == 0 ? LONG_ROWS : random.nextBoolean() ? 7 : 3_000;
      boolean ragged = what == What.ALLGATHER || what == What.ALLTOALL;
      long[][] rows = new long[size][size];
      for (int r = 0; r < size; r++) {
        for (int d = 0; d < size; d++) {
          boolean none = random.nextInt(8) == 0;
          rows[r][d] =
              ragged || r == 0 ? (none ? 0 : random.nextLong(most / size + 2)) : rows[0][d];
        }
      }
      return new Case(
          number,
          what,
          DType.values()[random.nextInt(DType.values().length)],
          ReduceOp.values()[random.nextInt(ReduceOp.values().length)],
          rows,
          random.nextInt(9) == 0 ? 0 : 1 + random.nextInt(5),
          random.nextInt(size),
          random.nextInt(3) > 0 ? all : random.nextInt(all + 1),
          random.nextInt(4) > 0,
          random.nextLong());
    }

    CollectiveOptions options() {
      CollectiveOptions options = named("case" + number % 7);
      return chosen ? options.by("mapped") : options;
    }

    long rowsOf(int rank) {
      return LongStream.of(rows[rank]).sum();
    }

    Shape shape(int rank) {
      return Shape.of(rowsOf(rank), columns);
    }

    TensorLease tensor(Weft weft, Shape shape) {
      return (shared >> weft.rank() & 1) == 1
          ? weft.allocate(dtype, shape)
          : OwnedTensor.allocate(dtype, shape);
    }

    OwnedTensor input(int rank) {
      return TensorModel.random(dtype, shape(rank), new SplittableRandom(seed + rank));
    }

    /// Returns whether the bits are those of additions in the tree of all ranks.
    boolean inOrder(int size) {
      return !dtype.floating() || (chosen && shared == (1 << size) - 1);
    }

    byte[] expected(int rank) {
      int size = rows.length;
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      switch (what) {
        case BROADCAST -> append(all, root, 0, rowsOf(root));
        case ALLGATHER -> {
          for (int r = 0; r < size; r++) {
            append(all, r, 0, rowsOf(r));
          }
        }
        case ALLTOALL -> {
          for (int r = 0; r < size; r++) {
            append(all, r, LongStream.of(rows[r]).limit(rank).sum(), rows[r][rank]);
          }
        }
        case REDUCE_SCATTER -> {
          try (OwnedTensor sum = TensorModel.inOrder(dtype, op, size, this::input)) {
            long from = 0;
            for (int r = 0; r < rank; r++) {
              from += share(r, size);
            }
            all.writeBytes(bytes(sum.view().rows(from, share(rank, size))));
          }
        }
      }
      return all.toByteArray();
    }

    long share(int rank, int size) {
      return rowsOf(0) / size + (rank < rowsOf(0) % size ? 1 : 0);
    }

    private void append(ByteArrayOutputStream all, int rank, long from, long count) {
      try (OwnedTensor input = input(rank)) {
        all.writeBytes(bytes(input.view().rows(from, count)));
      }
    }

    @Override
    public String toString() {
      return "case %d: %s %s %s of %s x %d from %d, shared %x, chosen %s"
          .formatted(
              number, what, dtype, op, Arrays.deepToString(rows), columns, root, shared, chosen);
    }
  }

  private static byte[] bytes(TensorView tensor) {
    return tensor.data().toArray(ValueLayout.JAVA_BYTE);
  }

  static Stream<Arguments> jobs() {
    return Stream.of(
        Arguments.of("inproc", 2, Set.of()),
        Arguments.of("inproc", 3, Set.of()),
        Arguments.of("inproc", 5, Set.of()),
        Arguments.of("inproc", 8, Set.of()),
        Arguments.of("inproc", 2, Set.of(1)),
        Arguments.of("inproc", 4, Set.of(0, 2)),
        Arguments.of("shm", 2, Set.of()),
        Arguments.of("shm", 4, Set.of()),
        Arguments.of("shm", 3, Set.of(1)));
  }

  @ParameterizedTest(name = "{0}, {1} ranks, of which {2} cannot reach the others'' memory")
  @MethodSource("jobs")
  void allRanksGetTheResultsOfTheModel(String scheme, int size, Set<Integer> blind) {
    for (var result :
        RandomCases.results(scheme, size, blind, Case::random, SharedCollectivesTest::result)) {
      Case c = result.one();
      boolean exact = c.what() != What.REDUCE_SCATTER || (blind.isEmpty() && c.inOrder(size));
      for (int rank = 0; rank < size; rank++) {
        byte[] got = result.byRank().get(rank);
        byte[] expected = c.expected(rank);
        assertThat(got.length).as("length on rank %d: %s", rank, c).isEqualTo(expected.length);
        if (exact || !c.dtype().floating()) {
          assertThat(Arrays.mismatch(got, expected))
              .as("first wrong byte on rank %d: %s", rank, c)
              .isEqualTo(-1);
        }
      }
    }
  }

  private static byte[] result(Weft weft, Case c) throws Exception {
    Communicator all = weft.communicator();
    int rank = weft.rank();
    try (TensorLease lease = c.tensor(weft, c.shape(rank));
        OwnedTensor model = c.input(rank)) {
      TensorView input = lease.view();
      input.data().copyFrom(model.view().data());
      byte[] result =
          switch (c.what()) {
            case BROADCAST -> bytes(all.broadcast(input, c.root(), c.options()).await());
            case ALLGATHER -> {
              try (TensorLease gathered = all.allgather(input, c.options()).await()) {
                yield bytes(gathered.view());
              }
            }
            case ALLTOALL -> {
              List<Long> splits = LongStream.of(c.rows()[rank]).boxed().toList();
              Communicator.Received received = all.alltoall(input, splits, c.options()).await();
              try (TensorLease tensor = received.tensor()) {
                yield bytes(tensor.view());
              }
            }
            case REDUCE_SCATTER -> scattered(weft, c, input);
          };
      if (c.what() != What.BROADCAST) {
        assertThat(input.data().mismatch(model.view().data())).as("input of %s", c).isEqualTo(-1);
      }
      return result;
    }
  }

  private static byte[] scattered(Weft weft, Case c, TensorView input) throws Exception {
    Shape mine = Shape.of(c.share(weft.rank(), weft.size()), c.columns());
    try (TensorLease output = c.tensor(weft, mine)) {
      return bytes(
          weft.communicator().reduceScatter(input, output.view(), c.op(), c.options()).await());
    }
  }

  /// The output may be part of the input: at the rank's own rows, which no other rank reads, or at
  /// other rows, where the rank must wait.
  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm"})
  void reduceScatterMayStoreIntoItsInput(String scheme) {
    int size = 3;
    int rows = 9_000;
    try (LocalJob job = RandomCases.job(scheme, size)) {
      for (int at = 0; at < size; at++) {
        int place = at;
        List<byte[]> results =
            job.run(
                weft -> {
                  try (TensorLease lease = weft.allocate(DType.INT32, Shape.of(rows))) {
                    TensorView input = lease.view();
                    for (int i = 0; i < rows; i++) {
                      input.data().setAtIndex(ValueLayout.JAVA_INT, i, i * (weft.rank() + 1));
                    }
                    int share = rows / size;
                    TensorView output =
                        input.rows((long) (weft.rank() + place) % size * share, share);
                    return bytes(
                        weft.communicator()
                            .reduceScatter(input, output, ReduceOp.SUM, named("g" + place))
                            .await());
                  }
                });
        for (int rank = 0; rank < size; rank++) {
          var sums = ByteBuffer.wrap(results.get(rank)).order(ByteOrder.LITTLE_ENDIAN);
          for (int i = 0; i < rows / size; i++) {
            int element = rank * (rows / size) + i;
            assertThat(sums.getInt(4 * i)).as("element %d", element).isEqualTo(6 * element);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm"})
  void bytesThroughMappedMemoryAreCounted(String scheme) {
    try (LocalJob job = RandomCases.job(scheme, 3)) {
      long bytes = 4 * 300_000;
      List<Long> mapped =
          job.run(
              weft -> {
                try (TensorLease tensor = weft.allocate(DType.FLOAT32, Shape.of(300_000))) {
                  TensorView view = tensor.view();
                  weft.communicator().allreduce(view, view, ReduceOp.SUM, named("s")).await();
                  weft.communicator().broadcast(view, 0, named("b")).await();
                  weft.communicator().barrier(named("end")).await();
                  return weft.bytesMapped();
                }
              });
      // In the allreduce, each slice is read from two ranks and written to two. In the broadcast,
      // two ranks read the tensor.
      assertThat(mapped.stream().mapToLong(Long::longValue).sum()).isEqualTo(6 * bytes);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm"})
  void theResultOfAnAllgatherIsMappable(String scheme) {
    try (LocalJob job = RandomCases.job(scheme, 2)) {
      List<Boolean> mappable =
          job.run(
              weft -> {
                try (OwnedTensor input = OwnedTensor.allocate(DType.INT8, Shape.of(10_000));
                    TensorLease all =
                        weft.communicator().allgather(input.view(), named("g")).await()) {
                  long before = weft.bytesSent();
                  weft.communicator().broadcast(all.view(), 0, named("b")).await();
                  return weft.bytesSent() - before < 10_000;
                }
              });
      assertThat(mappable).containsOnly(true);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm"})
  void aRankThatDoesNotSubmitIsNamedAtTheDeadline(String scheme) {
    for (What what : What.values()) {
      try (LocalJob job = RandomCases.job(scheme, 3)) {
        List<String> messages = job.run(weft -> weft.rank() == 1 ? "" : overdue(weft, what));
        assertThat(messages.get(2)).as(what.toString()).contains("rank 1");
      }
    }
  }

  private static String overdue(Weft weft, What what) throws Exception {
    Case c =
        new Case(
            0,
            what,
            DType.FLOAT32,
            ReduceOp.SUM,
            new long[][] {{900, 900, 900}, {900, 900, 900}, {900, 900, 900}},
            4,
            1,
            7,
            true,
            1);
    try (TensorLease input = weft.allocate(DType.FLOAT32, c.shape(weft.rank()));
        TensorLease output = weft.allocate(DType.FLOAT32, Shape.of(900, 4))) {
      CollectiveOptions options = c.options().within(Duration.ofMillis(500));
      Communicator all = weft.communicator();
      var handle =
          switch (what) {
            case BROADCAST -> all.broadcast(input.view(), 1, options);
            case ALLGATHER -> all.allgather(input.view(), options);
            case ALLTOALL -> all.alltoall(input.view(), List.of(900L, 900L, 900L), options);
            case REDUCE_SCATTER ->
                all.reduceScatter(input.view(), output.view(), ReduceOp.SUM, options);
          };
      try {
        handle.await();
        return "done";
      } catch (CommException failure) {
        return String.valueOf(failure.getMessage());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm"})
  void ranksThatDisagreeFailAndBothShapesAreNamed(String scheme) {
    try (LocalJob job = RandomCases.job(scheme, 2)) {
      var unused =
          job.run(
              weft -> {
                Shape shape = Shape.of(10, 100 + weft.rank());
                try (TensorLease input = weft.allocate(DType.INT8, shape)) {
                  assertThatThrownBy(
                          () -> weft.communicator().allgather(input.view(), named("g")).await())
                      .isInstanceOf(CommException.Mismatch.class)
                      .hasMessageContainingAll("100", "101");
                }
                return true;
              });
    }
  }
}
