// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.transport.Transport;
import io.weft.transport.pool.BufferPool;
import io.weft.transport.pool.SliceLease;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/// The acquisition and release of a lease from the pool of registered memory.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PoolBenchmark {

  private static final long POOL_BYTES = 64 << 20;

  /// The size of the lease.
  @Param({"4096", "1048576"})
  public long bytes = 4096;

  private final Transport transport = TwoNodes.alone("inproc");
  private final BufferPool pool = BufferPool.of(transport, POOL_BYTES);

  /// For JMH.
  public PoolBenchmark() {}

  /// Allocates the pool's first block.
  @Setup(Level.Trial)
  public void grow() {
    pool.tryLease(bytes).orElseThrow().close();
  }

  /// Acquires a lease and releases it. The return value prevents the JVM from optimizing the lease
  /// away.
  @Benchmark
  public SliceLease takeAndGive() {
    SliceLease lease = pool.tryLease(bytes).orElseThrow();
    lease.close();
    return lease;
  }

  /// Frees the pool.
  @TearDown(Level.Trial)
  public void close() {
    pool.close();
    transport.close();
  }
}
