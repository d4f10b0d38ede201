// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import org.jspecify.annotations.Nullable;

/// One share from each rank to all. Leasing the result is part of the timed call, as it is for
/// users.
final class AllgatherWork implements Work {

  private final Bench bench;
  private final TensorView input;
  private @Nullable TensorLease result;

  AllgatherWork(Bench bench) {
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
