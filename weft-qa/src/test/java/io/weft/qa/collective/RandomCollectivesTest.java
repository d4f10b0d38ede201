// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks thousands of random collectives, which each rank submits in another order, against a
/// model.
class RandomCollectivesTest {

  /// `-Dweft.test.seed=N` replays a run. `-Dweft.test.collectives=N` sets the number of collectives
  /// per job.
  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());

  private static final int COLLECTIVES =
      Integer.getInteger("weft.test.collectives", Boolean.getBoolean("weft.test.long") ? 500 : 200);
  private static final int BATCH = 20;
  private static final long MAX_BYTES = 1 << 20;

  enum What {
    ALLREDUCE,
    REDUCE_SCATTER,
    ALLGATHER,
    BROADCAST,
    ALLTOALL,
    BARRIER
  }

  /// One collective, identical on all ranks. `rows` and `splits` have one element per rank.
  record Case(
      String name,
      What what,
      DType dtype,
      ReduceOp op,
      long[] rows,
      long[][] splits,
      int columns,
      int root,
      boolean inPlace,
      String algorithm,
      long seed,
      Supplier<double[]> reduced) {

    @Override
    public String toString() {
      return name
          + " "
          + dtype
          + " "
          + op
          + " rows "
          + Arrays.toString(rows)
          + " x "
          + columns
          + (inPlace ? " in place " : " ")
          + algorithm;
    }

    OwnedTensor input(int rank) {
      int from = what == What.BROADCAST ? root : rank;
      return TensorModel.random(
          dtype, Shape.of(rows[rank], columns), new SplittableRandom(seed + from));
    }
  }

  static Stream<Arguments> jobs() {
    Stream<Arguments> all =
        Stream.of("inproc", "tcp")
            .flatMap(t -> Stream.of(2, 3, 4, 5, 7, 8).map(n -> Arguments.of(t, n)));
    return Stream.concat(all, Stream.of(2, 3, 5).map(n -> Arguments.of("shm", n)));
  }

  @ParameterizedTest(name = "{0}, {1} ranks")
  @MethodSource("jobs")
  void randomCollectivesAgreeWithTheModel(String transport, int size) {
    System.Logger log = System.getLogger("weft.test");
    log.log(System.Logger.Level.INFO, "replay with -Dweft.test.seed={0}", Long.toString(SEED));
    SplittableRandom random = new SplittableRandom(SEED + size);
    WeftConfig config = WeftConfig.builder().transport(transport).build();
    try (LocalJob job = LocalJob.start(size, config)) {
      for (int done = 0; done < COLLECTIVES; done += BATCH) {
        List<Case> batch = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
          batch.add(randomCase("op" + (done + i) % 57, size, random));
        }
        var unused = job.run(weft -> runBatch(weft, batch));
      }
    }
  }

  private static Case randomCase(String name, int size, SplittableRandom random) {
    What what = What.values()[random.nextInt(What.values().length)];
    DType dtype = DType.values()[random.nextInt(DType.values().length)];
    ReduceOp op = ReduceOp.values()[random.nextInt(ReduceOp.values().length)];
    int columns = random.nextInt(4) == 0 ? 1 : 1 + random.nextInt(17);
    long most = MAX_BYTES / dtype.bytes() / columns;
    int kind = random.nextInt(40);
    long limit = kind == 0 ? most : kind < 8 ? most / 16 : 200;
    long same = random.nextInt(12) == 0 ? 0 : random.nextLong(limit + 1);
    long[] rows = new long[size];
    long[][] splits = new long[size][size];
    for (int r = 0; r < size; r++) {
      boolean uneven = what == What.ALLGATHER;
      rows[r] = uneven ? random.nextLong(limit / size + 1) : same;
      if (what == What.ALLTOALL) {
        for (int d = 0; d < size; d++) {
          splits[r][d] = random.nextLong(limit / size / size + 2);
        }
        rows[r] = LongStream.of(splits[r]).sum();
      }
    }
    List<String> algorithms = Algorithms.allreduceNames();
    String algorithm =
        random.nextBoolean() ? "" : algorithms.get(random.nextInt(algorithms.size()));
    long seed = random.nextLong();
    return new Case(
        name + "#" + what,
        what,
        dtype,
        op,
        rows,
        splits,
        columns,
        random.nextInt(size),
        random.nextBoolean(),
        algorithm,
        seed,
        TensorModel.reduced(dtype, op, Shape.of(same, columns), size, seed));
  }

  private static boolean runBatch(Weft weft, List<Case> batch) throws Exception {
    List<Case> shuffled = new ArrayList<>(distinctNames(batch));
    Collections.shuffle(shuffled, new Random(weft.rank() + batch.getFirst().seed()));
    List<Running> running = new ArrayList<>();
    for (Case c : shuffled) {
      running.add(start(weft.communicator(), c));
    }
    for (Running r : running) {
      r.check(weft.communicator());
    }
    return true;
  }

  private static List<Case> distinctNames(List<Case> batch) {
    List<String> names = new ArrayList<>();
    return batch.stream().filter(c -> !names.contains(c.name()) && names.add(c.name())).toList();
  }

  record Running(Case c, OwnedTensor input, OwnedTensor output, Handle<?> handle) {

    void check(Communicator comm) throws Exception {
      Object result = handle.await();
      int rank = comm.rank();
      switch (c.what()) {
        case ALLREDUCE -> checkReduced(comm, (c.inPlace() ? input : output).view(), 0);
        case REDUCE_SCATTER -> {
          long before = 0;
          for (int r = 0; r < rank; r++) {
            before += rowsOf(c.rows()[0], r, comm.size());
          }
          checkReduced(comm, output.view(), before * c.columns());
        }
        case BROADCAST -> {
          try (OwnedTensor expected = c.input(c.root())) {
            assertThat(input.view().data().mismatch(expected.view().data()))
                .as(what())
                .isEqualTo(-1);
          }
        }
        case ALLGATHER -> {
          try (TensorLease all = (TensorLease) result) {
            long at = 0;
            for (int r = 0; r < comm.size(); r++) {
              checkRows(c, r, 0, c.rows()[r], all.view(), at);
              at += c.rows()[r];
            }
            assertThat(all.view().shape().dims().getFirst()).as(what()).isEqualTo(at);
          }
        }
        case ALLTOALL -> {
          Communicator.Received received = (Communicator.Received) result;
          try (TensorLease all = received.tensor()) {
            long at = 0;
            for (int r = 0; r < comm.size(); r++) {
              long skip = 0;
              for (int d = 0; d < rank; d++) {
                skip += c.splits()[r][d];
              }
              assertThat(received.splits().get(r)).as(what()).isEqualTo(c.splits()[r][rank]);
              checkRows(c, r, skip, c.splits()[r][rank], all.view(), at);
              at += c.splits()[r][rank];
            }
          }
        }
        case BARRIER -> {}
      }
      input.close();
      output.close();
    }

    private String what() {
      return c.toString();
    }

    private void checkReduced(Communicator comm, TensorView got, long firstElement) {
      double[] expected = c.reduced().get();
      int size = comm.size();
      boolean floating = c.dtype().floating();
      for (int i = 0; i < got.shape().elements(); i++) {
        double want = expected[(int) firstElement + i];
        double have = floating ? TensorModel.get(got, i) : TensorModel.getLong(got, i);
        // The model rounds, too, which matters only if it is no more exact than the type.
        double bound = 2 * size * TensorModel.roundoff(c.dtype()) * Math.abs(want);
        if (Math.abs(have - want) > bound) {
          assertThat(have).as(what() + " at " + i).isCloseTo(want, within(bound));
        }
      }
    }
  }

  private static void checkRows(
      Case c, int from, long firstRow, long rows, TensorView got, long atRow) {
    try (OwnedTensor expected = c.input(from)) {
      assertThat(got.rows(atRow, rows).data().mismatch(expected.view().rows(firstRow, rows).data()))
          .as(c.toString())
          .isEqualTo(-1);
    }
  }

  private static long rowsOf(long rows, int rank, int size) {
    return rows / size + (rank < rows % size ? 1 : 0);
  }

  private static Running start(Communicator comm, Case c) {
    CollectiveOptions named = CollectiveOptions.named(c.name());
    CollectiveOptions reducing = c.algorithm().isEmpty() ? named : named.by(c.algorithm());
    OwnedTensor input = c.input(comm.rank());
    long outRows =
        c.what() == What.REDUCE_SCATTER
            ? rowsOf(c.rows()[0], comm.rank(), comm.size())
            : c.rows()[comm.rank()];
    OwnedTensor output = OwnedTensor.allocate(c.dtype(), Shape.of(outRows, c.columns()));
    TensorView in = input.view();
    Handle<?> handle =
        switch (c.what()) {
          case ALLREDUCE -> comm.allreduce(in, c.inPlace() ? in : output.view(), c.op(), reducing);
          case REDUCE_SCATTER -> comm.reduceScatter(in, output.view(), c.op(), named);
          case ALLGATHER -> comm.allgather(in, named);
          case BROADCAST -> comm.broadcast(in, c.root(), named);
          case ALLTOALL ->
              comm.alltoall(in, LongStream.of(c.splits()[comm.rank()]).boxed().toList(), named);
          case BARRIER -> comm.barrier(named);
        };
    return new Running(c, input, output, handle);
  }
}
