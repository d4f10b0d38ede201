// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.resource;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The resources of this process at a moment.
///
/// @param files the number of open file descriptors, or -1 if the system does not show them
/// @param threads the numbers and names of Weft's live threads
/// @param directBytes the memory of direct buffers
/// @param heapBytes the approximate size of reachable objects
/// @param temporary Weft's files in the temporary directory
record Resources(
    int files, Set<String> threads, long directBytes, long heapBytes, Set<String> temporary) {

  /// Temporary directories of launchers, measurements, the fuzzer and torture, which other JVMs run
  /// at the same time.
  private static final Pattern OF_OTHERS =
      Pattern.compile("^weft-(job|perf|fuzz|torture|strangers)-");

  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

  /// Allows for jars that the class loader opens for the first time.
  private static final int SLACK_FILES = 4;

  /// Allows for buffers that the JDK's own threads keep for reading and writing.
  private static final long SLACK_DIRECT_BYTES = 1 << 20;

  private static final Duration LIMIT = Duration.ofSeconds(30);

  /// Collects garbage, which also releases memory that only the collector can release, and returns
  /// the resources.
  static Resources now() {
    System.gc();
    return new Resources(descriptors(), weftThreads(), directMemory(), heap(), temporaryFiles());
  }

  /// Waits until the process has no more resources than `before`, except for `slackBytes` of heap.
  /// Otherwise fails with the difference.
  static void assertNoMoreThan(Resources before, long slackBytes) {
    long end = System.nanoTime() + LIMIT.toNanos();
    Resources after = now();
    while (!after.isWithin(before, slackBytes) && System.nanoTime() < end) {
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
      after = now();
    }
    assertThat(after.files).as("open files").isLessThanOrEqualTo(before.files + SLACK_FILES);
    assertThat(after.threads).as("threads").isSubsetOf(before.threads);
    assertThat(after.directBytes)
        .as("direct memory")
        .isLessThanOrEqualTo(before.directBytes + SLACK_DIRECT_BYTES);
    assertThat(after.heapBytes).as("heap").isLessThanOrEqualTo(before.heapBytes + slackBytes);
    assertThat(after.temporary).as("temporary files").isSubsetOf(before.temporary);
  }

  private boolean isWithin(Resources before, long slackBytes) {
    return files <= before.files + SLACK_FILES
        && before.threads.containsAll(threads)
        && directBytes <= before.directBytes + SLACK_DIRECT_BYTES
        && heapBytes <= before.heapBytes + slackBytes
        && before.temporary.containsAll(temporary);
  }

  private static int descriptors() {
    if (!Files.isDirectory(DESCRIPTORS)) {
      return -1;
    }
    return names(DESCRIPTORS).size();
  }

  private static Set<String> weftThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("weft-"))
        .map(thread -> thread.threadId() + " " + thread.getName())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static long directMemory() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  private static long heap() {
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static Set<String> temporaryFiles() {
    return names(Path.of(System.getProperty("java.io.tmpdir"))).stream()
        .filter(name -> name.startsWith("weft") && !OF_OTHERS.matcher(name).find())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<String> names(Path directory) {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.map(entry -> entry.getFileName().toString()).toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
