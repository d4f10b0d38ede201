// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;

/// Sum of all ranks' vectors, one share to each rank.
final class ReduceScatterWork implements Work {

  private final Bench bench;
  private final TensorView input;
  private final TensorView output;

  ReduceScatterWork(Bench bench) {
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
