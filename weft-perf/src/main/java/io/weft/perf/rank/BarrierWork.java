// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

/// Nothing but the meeting. Whether all met is judged from the ranks' clocks, see `Stopwatch`.
final class BarrierWork implements Work {

  private final Bench bench;

  BarrierWork(Bench bench) {
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
