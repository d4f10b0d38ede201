// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// The limit of memory that this process may pin (`RLIMIT_MEMLOCK`).
final class MemoryLock {

  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final String NAME = "Max locked memory";
  private static final Path STATUS = Path.of("/proc/self/status");

  private MemoryLock() {}

  /// Returns advice for a failure to pin `bytes`.
  static String advice(long bytes) {
    return "this process may lock "
        + words(field(LIMITS, NAME, "unlimited"))
        + " and has "
        + field(STATUS, "VmPin:", "an unknown amount")
        + " pinned; at least "
        + bytes
        + " bytes more are needed: run 'ulimit -l unlimited' or set LimitMEMLOCK=infinity";
  }

  private static String words(String limit) {
    return limit.equals("unlimited") ? "any amount of memory" : limit + " bytes (RLIMIT_MEMLOCK)";
  }

  private static String field(Path file, String name, String otherwise) {
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(name.length()).trim().replaceAll(" {2,}.*", ""))
          .findFirst()
          .orElse(otherwise);
    } catch (IOException e) {
      return otherwise;
    }
  }
}
