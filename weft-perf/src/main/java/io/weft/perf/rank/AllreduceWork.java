// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;

/// Sum of all ranks' vectors, out of place.
final class AllreduceWork implements Work {

  private final Bench bench;
  private final TensorView input;
  private final TensorView output;

  AllreduceWork(Bench bench) {
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
