// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;

/// Runs a target on one input after the other and measures what each cost. One thread; another one
/// may ask what is under way.
final class Trial {

  /// Processor time that no input of 4 KiB may take.
  private static final long MAX_CPU_NANOS = 2_000_000_000L;

  private final ThreadMXBean meter = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final FuzzTarget target;
  private volatile byte @Nullable [] running;
  private long executions;

  Trial(FuzzTarget target) {
    this.target = target;
  }

  long executions() {
    return executions;
  }

  /// The input under way; null between two. The same array for as long as it takes. Any thread.
  byte @Nullable [] running() {
    return running;
  }

  /// Loads what the target needs, unmeasured.
  void warmUp(byte[] input) {
    var unused = execute(input, false);
  }

  /// What came out of the decoder that should not; null if nothing. What it cost too much is
  /// measured a second time, because the first time may have loaded classes.
  @Nullable Throwable run(byte[] input, boolean trace) {
    Throwable failure = measured(input, trace);
    return failure instanceof Excess ? measured(input, trace) : failure;
  }

  private @Nullable Throwable measured(byte[] input, boolean trace) {
    long bytes = meter.getCurrentThreadAllocatedBytes();
    long cpu = meter.getCurrentThreadCpuTime();
    Throwable failure = execute(input, trace);
    if (failure != null) {
      return failure;
    }
    cpu = meter.getCurrentThreadCpuTime() - cpu;
    bytes = meter.getCurrentThreadAllocatedBytes() - bytes;
    if (bytes > target.allocationLimit()) {
      return new Excess(
          "allocated " + bytes + " bytes, more than " + target.allocationLimit() + " bytes");
    }
    return cpu > MAX_CPU_NANOS
        ? new Excess("took " + cpu / 1_000_000 + " ms, more than " + MAX_CPU_NANOS / 1_000_000)
        : null;
  }

  // The decoder may throw anything; that is what is looked for.
  private @Nullable Throwable execute(byte[] input, boolean trace) {
    executions++;
    running = input;
    Coverage.begin(trace);
    try {
      target.decode(input);
      return null;
    } catch (Throwable wrong) {
      return wrong;
    } finally {
      var unused = Coverage.end();
      running = null;
    }
  }
}
