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
///
/// The result consists of equal parts: the whole tensor, or a share of each rank. Part r has the
/// data of scale r + 1 if it comes from rank r, or of the sum of all ranks' scales.
final class Work implements TimedCall {
  private final Bench bench;
  private final @Nullable TensorView input;
  private final @Nullable TensorView output;
  private final Call call;
  private final Parts parts;
  private @Nullable TensorLease leased;

  /// The timed part: one blocking call, which may lease its result.
  @FunctionalInterface
  private interface Call {
    @Nullable TensorLease run() throws InterruptedException;
  }

  /// The parts of the result.
  ///
  /// @param count number of parts
  /// @param bytes size of each part
  /// @param scale scale of the first part
  /// @param phase offset of the data in the phase of an iteration
  private record Parts(int count, long bytes, int scale, long phase) {}

  private Work(
      Bench bench,
      @Nullable TensorView input,
      @Nullable TensorView output,
      Call call,
      Parts parts) {
    this.bench = bench;
    this.input = input;
    this.output = output;
    this.call = call;
    this.parts = parts;
  }

  /// Returns the collective of this name. Throws `IllegalArgumentException` for an unknown name.
  static Work of(String benchmark, Bench bench) {
    return switch (benchmark) {
      case "allreduce" -> allreduce(bench);
      case "broadcast" -> broadcast(bench);
      case "allgather" -> allgather(bench);
      case "reducescatter" -> reduceScatter(bench);
      case "alltoall" -> alltoall(bench);
      case "barrier" -> barrier(bench);
      default -> throw new IllegalArgumentException("no benchmark '" + benchmark + "'");
    };
  }

  /// The sum of all ranks' vectors, out of place.
  private static Work allreduce(Bench bench) {
    TensorView input = bench.vector(bench.elements());
    TensorView output = bench.vector(bench.elements());
    Call call =
        () -> {
          bench.communicator().allreduce(input, output, ReduceOp.SUM, bench.options()).await();
          return null;
        };
    Parts parts = new Parts(1, bench.bytes(), bench.sumOfScales(), 0);
    return new Work(bench, input, output, call, parts);
  }

  /// The copy of rank 0's vector to all ranks.
  private static Work broadcast(Bench bench) {
    TensorView tensor = bench.vector(bench.elements());
    Call call =
        () -> {
          bench.communicator().broadcast(tensor, 0, bench.options()).await();
          return null;
        };
    TensorView filled = bench.rank() == 0 ? tensor : null;
    return new Work(bench, filled, tensor, call, new Parts(1, bench.bytes(), 1, 0));
  }

  /// The concatenation of one share of each rank on all ranks. The timed call includes the lease of
  /// the result, as it does for users.
  private static Work allgather(Bench bench) {
    TensorView input = bench.vector(bench.shareElements());
    Call call = () -> bench.communicator().allgather(input, bench.options()).await();
    return new Work(bench, input, null, call, new Parts(bench.size(), bench.shareBytes(), 1, 0));
  }

  /// The sum of all ranks' vectors, scattered in one share per rank.
  private static Work reduceScatter(Bench bench) {
    TensorView input = bench.vector(bench.elements());
    TensorView output = bench.vector(bench.shareElements());
    Call call =
        () -> {
          bench.communicator().reduceScatter(input, output, ReduceOp.SUM, bench.options()).await();
          return null;
        };
    long phase = bench.rank() * bench.shareElements();
    Parts parts = new Parts(1, bench.shareBytes(), bench.sumOfScales(), phase);
    return new Work(bench, input, output, call, parts);
  }

  /// The exchange of one share between each pair of ranks. The timed call includes the lease of the
  /// result, as it does for users.
  private static Work alltoall(Bench bench) {
    TensorView input = bench.vector(bench.elements());
    List<Long> splits = Collections.nCopies(bench.size(), bench.shareElements());
    Call call =
        () -> {
          Received received = bench.communicator().alltoall(input, splits, bench.options()).await();
          if (!received.splits().equals(splits)) {
            received.tensor().close();
            return null;
          }
          return received.tensor();
        };
    long phase = bench.rank() * bench.shareElements();
    Parts parts = new Parts(bench.size(), bench.shareBytes(), 1, phase);
    return new Work(bench, input, null, call, parts);
  }

  /// The barrier. `Stopwatch` checks from the ranks' clocks that all ranks met.
  private static Work barrier(Bench bench) {
    Call call =
        () -> {
          bench.communicator().barrier(bench.options()).await();
          return null;
        };
    return new Work(bench, null, null, call, new Parts(0, 0, 0, 0));
  }

  @Override
  public boolean isBarrier() {
    return parts.count() == 0;
  }

  @Override
  public void fill(long t) {
    if (input != null) {
      bench.tiles().fill(input.data(), bench.rank() + 1, t);
    }
  }

  /// Runs the timed part, one blocking call. Hot path.
  @Override
  public void call() throws InterruptedException {
    leased = call.run();
  }

  @Override
  public boolean right(long t) {
    if (isBarrier()) {
      return true;
    }
    try (TensorLease lease = leased) {
      TensorView result = lease == null ? output : lease.view();
      boolean right = result != null && result.bytes() == parts.count() * parts.bytes();
      for (int r = 0; result != null && right && r < parts.count(); r++) {
        right =
            bench
                .tiles()
                .same(
                    result.data(),
                    r * parts.bytes(),
                    parts.bytes(),
                    parts.scale() + r,
                    parts.phase() + t);
      }
      return right;
    }
  }

  @Override
  public void close() {
    bench.tensors().close();
  }
}
