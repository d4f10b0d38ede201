// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Measures the compilations of this JVM by the processor time that the kernel counts for each
/// compiler thread. The JVM's own counter includes a compilation only after it has ended, and one
/// may last a second. Where the kernel has no such count (not Linux), the JVM's counter is used.
/// Confined to one thread.
final class CompilerWatch {

  private static final Path THREADS = Path.of("/proc/self/task");

  /// The compiler threads' names, as far as the kernel does not cut them off.
  private static final List<String> COMPILERS = List.of("C1 Compiler", "C2 Compiler");

  private static final long LOOK_MILLIS = 20;

  /// The processor time that an idle compiler thread takes between two samples, rounded up.
  private static final long NOTHING_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Map<String, Long> nanosOfThread = new HashMap<>();

  /// Returns the processor time of all compilations so far, in nanoseconds. It does not fall when
  /// compiler threads end.
  long nanos() {
    try (Stream<Path> threads = Files.list(THREADS)) {
      threads.forEach(this::look);
    } catch (IOException | UncheckedIOException e) {
      return byTheJvm();
    }
    return nanosOfThread.values().stream().mapToLong(Long::longValue).sum();
  }

  private void look(Path thread) {
    try {
      String name = Files.readString(thread.resolve("comm"));
      if (COMPILERS.stream().anyMatch(name::startsWith)) {
        String ran = Files.readString(thread.resolve("schedstat")).split(" ", 2)[0];
        nanosOfThread.put(thread.toString(), Long.parseLong(ran));
      }
    } catch (IOException e) {
      // The thread has ended.
    }
  }

  private static long byTheJvm() {
    @Nullable CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    return compiler == null || !compiler.isCompilationTimeMonitoringSupported()
        ? 0
        : TimeUnit.MILLISECONDS.toNanos(compiler.getTotalCompilationTime());
  }

  /// Sleeps until the compiler is idle, at most for `limitNanos`. The compiler finishes soonest
  /// while nothing else runs.
  void awaitRest(long limitNanos) throws InterruptedException {
    long begin = System.nanoTime();
    long before = nanos();
    while (System.nanoTime() - begin < limitNanos) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      long now = nanos();
      if (now - before < NOTHING_NANOS) {
        return;
      }
      before = now;
    }
  }
}
