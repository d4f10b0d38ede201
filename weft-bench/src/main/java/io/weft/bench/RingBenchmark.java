// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.transport.ring.ByteRing;
import io.weft.transport.ring.MessageBuffer;
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
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/// The costs of a message between posting and the socket: the reservation of memory in the ring,
/// and the copy that the sink reads.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RingBenchmark {

  private static final int CAPACITY = 1 << 16;

  /// The size of the message.
  @Param({"64", "1024"})
  public int bytes = 64;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment memory = arena.allocate(CAPACITY, 64);
  private final ByteRing ring = new ByteRing(CAPACITY);
  private final MessageBuffer buffer = new MessageBuffer(CAPACITY);

  /// For JMH.
  public RingBenchmark() {}

  /// Reserves memory and releases it.
  @Benchmark
  public int reserveAndRelease() {
    int index = ring.reserve(bytes);
    ring.release(ring.head());
    return index;
  }

  /// Copies a message to the memory that the sink reads.
  @Benchmark
  public MemorySegment showToSink() {
    return buffer.copy(memory, 0, bytes);
  }

  /// Frees the memory.
  @TearDown(Level.Trial)
  public void free() {
    arena.close();
  }
}
