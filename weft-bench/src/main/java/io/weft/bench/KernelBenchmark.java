// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.ReduceKernel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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

/// A reduction of two operands in native memory. One of them receives the result.
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class KernelBenchmark {

  private static final int LINE_BYTES = 64;

  /// The type of the elements.
  @Param({"FLOAT32", "FLOAT64", "FLOAT16", "BFLOAT16", "INT32"})
  public DType dtype = DType.FLOAT32;

  /// The size of one operand.
  @Param({"4096", "65536", "1048576", "67108864"})
  public long bytes;

  private final Arena arena = Arena.ofShared();
  private ReduceKernel reducer = Kernels.reducer(DType.FLOAT32, ReduceOp.SUM);
  private MemorySegment into = MemorySegment.NULL;
  private MemorySegment from = MemorySegment.NULL;
  private long elements;

  /// For JMH.
  public KernelBenchmark() {}

  /// Allocates zeros, whose repeated addition keeps all values normal.
  @Setup(Level.Trial)
  public void allocate() {
    Kernels.warmUp(dtype, ReduceOp.SUM);
    reducer = Kernels.reducer(dtype, ReduceOp.SUM);
    into = arena.allocate(bytes, LINE_BYTES);
    from = arena.allocate(bytes, LINE_BYTES);
    elements = bytes / dtype.bytes();
  }

  /// Adds `from` to `into`.
  @Benchmark
  public void reduce() {
    reducer.reduce(into, 0, from, 0, elements);
  }

  /// Frees the operands.
  @TearDown(Level.Trial)
  public void free() {
    arena.close();
  }
}
