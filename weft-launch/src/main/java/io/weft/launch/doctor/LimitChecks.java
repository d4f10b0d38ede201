// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Checks the limits of this process: open files, locked memory, and those of its control group.
final class LimitChecks {

  private static final String AREA = "limit";
  private static final String LIMITS = "/proc/self/limits";
  private static final long ENOUGH_FILES = 1024;

  private LimitChecks() {}

  static List<CheckResult> look() {
    var findings = new ArrayList<CheckResult>();
    SystemFiles.field(LIMITS, "Max open files").ifPresent(text -> findings.add(files(soft(text))));
    LockedMemory.look(Path.of("/")).ifPresent(findings::add);
    group("memory", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
        .ifPresent(findings::add);
    group("processor", "/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
        .ifPresent(findings::add);
    return findings;
  }

  private static CheckResult files(long soft) {
    return soft >= ENOUGH_FILES
        ? CheckResult.works(AREA, "open files", shown(soft))
        : CheckResult.limited(AREA, "open files", shown(soft), "run 'ulimit -n 4096'");
  }

  private static Optional<CheckResult> group(String what, String second, String first) {
    return SystemFiles.text(second)
        .or(() -> SystemFiles.text(first))
        .map(
            text ->
                CheckResult.works(
                    AREA, "control group, " + what, unlimited(text) ? "unlimited" : text));
  }

  /// Returns the soft limit, which is in force: the first number of `1024 524288 files`.
  static long soft(String text) {
    String first = text.split("\\s+", 2)[0];
    return first.matches("[0-9]{1,18}") ? Long.parseLong(first) : Long.MAX_VALUE;
  }

  /// Returns true for an unlimited value. Control groups of version 1 write the largest number of
  /// pages for it.
  private static boolean unlimited(String text) {
    return text.startsWith("max") || text.equals("-1") || text.matches("9[0-9]{18}");
  }

  private static String shown(long limit) {
    return limit == Long.MAX_VALUE ? "unlimited" : Long.toString(limit);
  }
}
