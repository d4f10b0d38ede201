// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.collective.Communicator.Received;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One collective of one size in its measured form. Confined to the rank's main thread.
sealed interface Work {

  /// Rewrites this rank's input for iteration `t`.
  void fill(long t);

  /// Runs the timed part, one blocking call. Hot path.
  void call() throws InterruptedException;

  /// Returns whether this rank's whole result of iteration `t` is right. Releases the result.
  boolean right(long t);

  /// The sum of all ranks' vectors, out of place.
  final class Allreduce implements Work {

    private final Bench bench;
    private final TensorView input;
    private final TensorView output;

    Allreduce(Bench bench) {
      this.bench = bench;
      this.input = bench.vector(bench.elements());
      this.output = bench.vector(bench.elements());
    }

    @Override
    public void fill(long t) {
      bench.tiles().fill(input.data(), bench.rank() + 1, t);
    }

    @Override
    public void call() throws InterruptedException {
      bench.communicator().allreduce(input, output, ReduceOp.SUM, bench.options()).await();
    }

    @Override
    public boolean right(long t) {
      return bench.tiles().same(output.data(), 0, bench.bytes(), bench.sumOfScales(), t);
    }
  }

  /// The copy of rank 0's vector to all ranks.
  final class Broadcast implements Work {

    private final Bench bench;
    private final TensorView tensor;

    Broadcast(Bench bench) {
      this.bench = bench;
      this.tensor = bench.vector(bench.elements());
    }

    @Override
    public void fill(long t) {
      if (bench.rank() == 0) {
        bench.tiles().fill(tensor.data(), 1, t);
      }
    }

    @Override
    public void call() throws InterruptedException {
      bench.communicator().broadcast(tensor, 0, bench.options()).await();
    }

    @Override
    public boolean right(long t) {
      return bench.tiles().same(tensor.data(), 0, bench.bytes(), 1, t);
    }
  }

  /// The concatenation of one share of each rank on all ranks. The timed call includes the lease of
  /// the result, as it does for users.
  final class Allgather implements Work {

    private final Bench bench;
    private final TensorView input;
    private @Nullable TensorLease result;

    Allgather(Bench bench) {
      this.bench = bench;
      this.input = bench.vector(bench.shareElements());
    }

    @Override
    public void fill(long t) {
      bench.tiles().fill(input.data(), bench.rank() + 1, t);
    }

    @Override
    public void call() throws InterruptedException {
      result = bench.communicator().allgather(input, bench.options()).await();
    }

    @Override
    public boolean right(long t) {
      try (TensorLease lease = result) {
        boolean right = lease != null && lease.view().bytes() == bench.bytes();
        for (int r = 0; lease != null && right && r < bench.size(); r++) {
          right =
              bench
                  .tiles()
                  .same(lease.view().data(), r * bench.shareBytes(), bench.shareBytes(), r + 1, t);
        }
        return right;
      }
    }
  }

  /// The sum of all ranks' vectors, scattered in one share per rank.
  final class ReduceScatter implements Work {

    private final Bench bench;
    private final TensorView input;
    private final TensorView output;

    ReduceScatter(Bench bench) {
      this.bench = bench;
      this.input = bench.vector(bench.elements());
      this.output = bench.vector(bench.shareElements());
    }

    @Override
    public void fill(long t) {
      bench.tiles().fill(input.data(), bench.rank() + 1, t);
    }

    @Override
    public void call() throws InterruptedException {
      bench.communicator().reduceScatter(input, output, ReduceOp.SUM, bench.options()).await();
    }

    @Override
    public boolean right(long t) {
      long phase = bench.rank() * bench.shareElements() + t;
      return bench.tiles().same(output.data(), 0, bench.shareBytes(), bench.sumOfScales(), phase);
    }
  }

  /// The exchange of one share between each pair of ranks. The timed call includes the lease of the
  /// result, as it does for users.
  final class Alltoall implements Work {

    private final Bench bench;
    private final TensorView input;
    private final List<Long> splits;
    private @Nullable Received result;

    Alltoall(Bench bench) {
      this.bench = bench;
      this.input = bench.vector(bench.elements());
      this.splits = Collections.nCopies(bench.size(), bench.shareElements());
    }

    @Override
    public void fill(long t) {
      bench.tiles().fill(input.data(), bench.rank() + 1, t);
    }

    @Override
    public void call() throws InterruptedException {
      result = bench.communicator().alltoall(input, splits, bench.options()).await();
    }

    @Override
    public boolean right(long t) {
      if (result == null) {
        return false;
      }
      long phase = bench.rank() * bench.shareElements() + t;
      try (TensorLease lease = result.tensor()) {
        boolean right = lease.view().bytes() == bench.bytes() && result.splits().equals(splits);
        for (int r = 0; right && r < bench.size(); r++) {
          right =
              bench
                  .tiles()
                  .same(
                      lease.view().data(),
                      r * bench.shareBytes(),
                      bench.shareBytes(),
                      r + 1,
                      phase);
        }
        return right;
      }
    }
  }

  /// The barrier. `Stopwatch` checks from the ranks' clocks that all ranks met.
  final class Barrier implements Work {

    private final Bench bench;

    Barrier(Bench bench) {
      this.bench = bench;
    }

    @Override
    public void fill(long t) {}

    @Override
    public void call() throws InterruptedException {
      bench.communicator().barrier(bench.options()).await();
    }

    @Override
    public boolean right(long t) {
      return true;
    }
  }
}
