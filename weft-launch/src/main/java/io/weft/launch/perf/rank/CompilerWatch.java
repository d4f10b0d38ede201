// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.rank;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Watches this JVM's compiler. One thread.
final class CompilerWatch {

  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  private final @Nullable CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
  private long seenMillis = -1;
  private long changedNanos = System.nanoTime();

  /// Whether no compilation has ended for 300 ms, as far as this was asked in between; true where
  /// the JVM does not tell.
  boolean rests() {
    long now = System.nanoTime();
    if (compiler == null || !compiler.isCompilationTimeMonitoringSupported()) {
      return true;
    }
    long millis = compiler.getTotalCompilationTime();
    if (millis != seenMillis) {
      seenMillis = millis;
      changedNanos = now;
    }
    return now - changedNanos >= REST_NANOS;
  }
}
