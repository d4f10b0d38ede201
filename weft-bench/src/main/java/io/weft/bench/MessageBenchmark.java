// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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

/// A message of 64 bytes through a transport: post, poll and receipt, with both ends on one thread.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MessageBenchmark {

  private static final int BYTES = 64;

  /// The transport's scheme.
  @Param({"inproc", "tcp"})
  public String transport = "inproc";

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment message = arena.allocate(BYTES, BYTES);
  private @Nullable TwoNodes nodes;

  /// For JMH.
  public MessageBenchmark() {}

  /// Connects two nodes.
  @Setup(Level.Trial)
  public void connect() {
    nodes = new TwoNodes(transport);
  }

  /// Sends a message and polls until it has arrived.
  @Benchmark
  public long sendAndPoll() {
    return nodes == null ? 0 : nodes.send(message);
  }

  /// Closes both nodes.
  @TearDown(Level.Trial)
  public void close() {
    if (nodes != null) {
      nodes.close();
    }
    arena.close();
  }
}
