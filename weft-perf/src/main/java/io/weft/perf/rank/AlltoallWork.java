// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.collective.Communicator.Received;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One share from each rank to each. Leasing the result is part of the timed call, as it is for
/// users.
final class AlltoallWork implements Work {

  private final Bench bench;
  private final TensorView input;
  private final List<Long> splits;
  private @Nullable Received result;

  AlltoallWork(Bench bench) {
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
                    lease.view().data(), r * bench.shareBytes(), bench.shareBytes(), r + 1, phase);
      }
      return right;
    }
  }
}
