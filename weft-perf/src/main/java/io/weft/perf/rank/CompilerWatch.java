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

/// Watches this JVM's compiler threads by the processor time that the kernel counts for each: what
/// the JVM itself tells, counts a compilation when it is over, and one may last a second. Where
/// there is no such count (not Linux) it is the JVM's. One thread.
final class CompilerWatch {

  private static final Path THREADS = Path.of("/proc/self/task");

  /// Names of threads as the kernel has them, which cuts them.
  private static final List<String> COMPILERS = List.of("C1 Compiler", "C2 Compiler");

  private static final long LOOK_MILLIS = 20;

  /// What a compiler thread that finds nothing to do takes in a look, and a little more.
  private static final long NOTHING_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Map<String, Long> nanosOfThread = new HashMap<>();

  /// Processor time of all compilations so far, in nanoseconds; does not fall when compiler threads
  /// end.
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
      // It has ended.
    }
  }

  private static long byTheJvm() {
    @Nullable CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    return compiler == null || !compiler.isCompilationTimeMonitoringSupported()
        ? 0
        : TimeUnit.MILLISECONDS.toNanos(compiler.getTotalCompilationTime());
  }

  /// Sleeps until the compiler has nothing to do, at most for `limitNanos`: it is soonest done
  /// where nothing else runs.
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
