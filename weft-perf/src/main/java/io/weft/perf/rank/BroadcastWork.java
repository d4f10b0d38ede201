// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.tensor.TensorView;

/// Rank 0's vector to all.
final class BroadcastWork implements Work {

  private final Bench bench;
  private final TensorView tensor;

  BroadcastWork(Bench bench) {
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
