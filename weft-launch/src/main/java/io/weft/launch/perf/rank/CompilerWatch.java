// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.rank;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Watches this JVM's compiler. One thread.
final class CompilerWatch {

  private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  /// Now and then a method is compiled for as long as a program runs.
  private static final long AT_REST_MILLIS = 10;

  private final @Nullable CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
  private long windowNanos = System.nanoTime();
  private long windowMillis;
  private boolean rested;

  /// Whether the compiler worked for at most 10 of the last 300 ms, as far as this was asked in
  /// between; true where the JVM does not tell.
  boolean rests() {
    if (compiler == null || !compiler.isCompilationTimeMonitoringSupported()) {
      return true;
    }
    long now = System.nanoTime();
    if (now - windowNanos >= WINDOW_NANOS) {
      long millis = compiler.getTotalCompilationTime();
      rested = millis - windowMillis <= AT_REST_MILLIS;
      windowMillis = millis;
      windowNanos = now;
    }
    return rested;
  }
}
