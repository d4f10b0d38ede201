// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;

/// The execution of a target on one input at a time, with its costs. Confined to one thread, except
/// that another thread may call `running`.
final class Trial {

  /// The limit on the processor time of an input of 4 KiB.
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

  /// Returns the current input, null between two inputs. It is the same array during an execution.
  /// Any thread may call it.
  byte @Nullable [] running() {
    return running;
  }

  /// Loads the target's classes without measurement.
  void warmUp(byte[] input) {
    var unused = execute(input, false);
  }

  /// Returns the failure of the decoder, null without one. An input that exceeds a limit is
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

  // The fuzzer looks for any throwable of the decoder.
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
