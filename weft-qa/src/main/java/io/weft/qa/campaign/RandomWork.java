// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.Weft;
import io.weft.collective.Algorithms;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.Communicator.Received;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.sim.SimRank;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/// The work of all ranks of a fault run: random collectives, some concurrent, with a check of every
/// element. All ranks with one seed run the same collectives. Their computing times differ.
final class RandomWork {

  /// A wrong result, which no fault excuses.
  static final class WrongResult extends AssertionError {
    private static final long serialVersionUID = 1L;

    WrongResult(String message) {
      super(message);
    }
  }

  private enum WorkKind {
    ALLREDUCE,
    REDUCE_SCATTER,
    ALLGATHER,
    BROADCAST,
    ALLTOALL,
    BARRIER
  }

  private record Op(int number, WorkKind kind, int elements, int root, String algorithm) {

    String name() {
      return kind.name().charAt(0) + "" + number % 3;
    }
  }

  private static final int[] LENGTHS = {1, 3, 40, 60, 900, 4_000, 12_000};
  private static final List<String> ALGORITHMS = Algorithms.allreduceNames();
  private static final long MOST_COMPUTING_NANOS = 3_000_000;

  private final List<List<Op>> steps = new ArrayList<>();

  RandomWork(long seed, int stepCount) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int s = 0; s < stepCount; s++) {
      List<Op> step = new ArrayList<>();
      int at = random.nextInt(3);
      int count = random.nextInt(5) == 0 ? 3 : 1;
      for (int i = 0; i < count; i++) {
        String algorithm =
            random.nextBoolean() ? "" : ALGORITHMS.get(random.nextInt(ALGORITHMS.size()));
        WorkKind kind = WorkKind.values()[random.nextInt(WorkKind.values().length)];
        step.add(
            new Op(
                at + i,
                random.nextBoolean() ? WorkKind.ALLREDUCE : kind,
                LENGTHS[random.nextInt(LENGTHS.length)],
                random.nextInt(1 << 20),
                algorithm));
      }
      steps.add(step);
    }
  }

  /// Runs all steps on one rank. Returns the number of checked results.
  int run(Weft weft, SimRank self) throws InterruptedException {
    int checked = 0;
    for (int s = 0; s < steps.size(); s++) {
      checked += step(s, weft.communicator(), self);
    }
    return checked;
  }

  /// Runs one step.
  int step(int s, Communicator comm, SimRank self) throws InterruptedException {
    RandomGenerator random = self.random();
    self.compute(Duration.ofNanos(random.nextLong(MOST_COMPUTING_NANOS)));
    List<Check> pending = new ArrayList<>();
    for (Op op : steps.get(s)) {
      pending.add(begin(op, s, comm));
    }
    while (!pending.isEmpty()) {
      pending.remove(random.nextInt(pending.size())).await();
    }
    return steps.get(s).size();
  }

  private interface Check {
    void await() throws InterruptedException;
  }

  private static int element(int rank, int step, long i) {
    return rank * 1_000_003 + step * 10_007 + (int) i;
  }

  private static int sum(int size, int step, long i) {
    return size * (size - 1) / 2 * 1_000_003 + size * (step * 10_007 + (int) i);
  }

  private static TensorView tensor(int rank, int step, long elements) {
    MemorySegment data = Arena.ofAuto().allocate(Math.max(1, elements) * 4, 64);
    for (long i = 0; i < elements; i++) {
      data.setAtIndex(JAVA_INT, i, element(rank, step, i));
    }
    return view(data, elements);
  }

  private static TensorView view(MemorySegment data, long elements) {
    return new TensorView(DType.INT32, Shape.of(elements), data.asSlice(0, elements * 4));
  }

  private static void expect(String what, Communicator comm, TensorView t, long i, int expected) {
    int got = t.data().getAtIndex(JAVA_INT, i);
    if (got != expected) {
      throw new WrongResult(
          what + " on rank " + comm.rank() + " at " + i + ": " + got + ", expected " + expected);
    }
  }

  private Check begin(Op op, int step, Communicator comm) {
    int rank = comm.rank();
    int size = comm.size();
    String what = op.kind + " '" + op.name() + "' of step " + step + " " + op.algorithm;
    CollectiveOptions named = CollectiveOptions.named(op.name());
    return switch (op.kind) {
      case ALLREDUCE -> {
        CollectiveOptions options = op.algorithm.isEmpty() ? named : named.by(op.algorithm);
        TensorView in = tensor(rank, step, op.elements);
        boolean inPlace = op.root % 2 == 0;
        TensorView out = inPlace ? in : tensor(rank, step, op.elements);
        Handle<TensorView> handle = comm.allreduce(in, out, ReduceOp.SUM, options);
        yield () -> {
          handle.await();
          for (long i = 0; i < op.elements; i++) {
            expect(what, comm, out, i, sum(size, step, i));
          }
        };
      }
      case REDUCE_SCATTER -> {
        long before = 0;
        for (int r = 0; r < rank; r++) {
          before += rows(op.elements, r, size);
        }
        long first = before;
        long mine = rows(op.elements, rank, size);
        TensorView out = tensor(rank, step, mine);
        Handle<TensorView> handle =
            comm.reduceScatter(tensor(rank, step, op.elements), out, ReduceOp.SUM, named);
        yield () -> {
          handle.await();
          for (long i = 0; i < mine; i++) {
            expect(what, comm, out, i, sum(size, step, first + i));
          }
        };
      }
      case ALLGATHER -> {
        long each = op.elements / size;
        Handle<TensorLease> handle = comm.allgather(tensor(rank, step, each + rank), named);
        yield () -> {
          try (TensorLease all = handle.await()) {
            long at = 0;
            for (int r = 0; r < size; r++) {
              for (long i = 0; i < each + r; i++) {
                expect(what, comm, all.view(), at++, element(r, step, i));
              }
            }
          }
        };
      }
      case BROADCAST -> {
        int root = op.root % size;
        TensorView inOut = tensor(rank, step, op.elements);
        Handle<TensorView> handle = comm.broadcast(inOut, root, named);
        yield () -> {
          handle.await();
          for (long i = 0; i < op.elements; i++) {
            expect(what, comm, inOut, i, element(root, step, i));
          }
        };
      }
      case ALLTOALL -> {
        long each = op.elements / size;
        List<Long> splits = new ArrayList<>();
        for (int r = 0; r < size; r++) {
          splits.add(each);
        }
        Handle<Received> handle = comm.alltoall(tensor(rank, step, each * size), splits, named);
        yield () -> {
          try (TensorLease got = handle.await().tensor()) {
            for (int r = 0; r < size; r++) {
              for (long i = 0; i < each; i++) {
                expect(what, comm, got.view(), r * each + i, element(r, step, rank * each + i));
              }
            }
          }
        };
      }
      case BARRIER -> {
        Handle<Void> handle = comm.barrier(named);
        yield handle::await;
      }
    };
  }

  private static long rows(long all, int rank, int size) {
    return all / size + (rank < all % size ? 1 : 0);
  }
}
