// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.nio.file.Path;
import java.util.Optional;

/// Checks how much memory this process may lock, which limits the memory that RDMA can register.
final class LockedMemory {

  /// The memory that a rank registers at its start, with a reserve for private tensors of the
  /// program.
  static final long ENOUGH_BYTES = 64L << 20;

  private static final String AREA = "limit";
  private static final String SUBJECT = "locked memory";
  private static final long CAP_IPC_LOCK = 1L << 14;

  private LockedMemory() {}

  /// Returns the finding; empty if the system does not have the limit.
  static Optional<CheckResult> look(Path root) {
    return SystemFiles.field(file(root, "limits"), "Max locked memory")
        .map(LimitChecks::soft)
        .map(limit -> finding(limit, root));
  }

  private static CheckResult finding(long limit, Path root) {
    if (limit == Long.MAX_VALUE) {
      return CheckResult.works(AREA, SUBJECT, "unlimited");
    }
    String found = SystemFiles.size(limit);
    if (mayExceed(root)) {
      return CheckResult.works(
          AREA, SUBJECT, found + ", and this process may lock more (CAP_IPC_LOCK)");
    }
    return limit >= ENOUGH_BYTES
        ? CheckResult.works(AREA, SUBJECT, found)
        : CheckResult.limited(
            AREA,
            SUBJECT,
            found
                + "; RDMA registers memory by locking it, a rank at least "
                + SystemFiles.size(ENOUGH_BYTES),
            "run 'ulimit -l unlimited', set LimitMEMLOCK=infinity for a service, or for a user"
                + " 'NAME - memlock unlimited' in /etc/security/limits.conf; see docs/rdma.md");
  }

  /// Returns true if the limit does not bind: the process has the capability CAP_IPC_LOCK and is
  /// not in a user namespace.
  private static boolean mayExceed(Path root) {
    boolean capable =
        SystemFiles.field(file(root, "status"), "CapEff")
            .map(hex -> (Long.parseUnsignedLong(hex, 16) & CAP_IPC_LOCK) != 0)
            .orElse(false);
    boolean ownUsers =
        SystemFiles.text(file(root, "uid_map"))
            .map(map -> !map.endsWith(" 4294967295"))
            .orElse(true);
    return capable && !ownUsers;
  }

  private static String file(Path root, String name) {
    return root.resolve("proc/self").resolve(name).toString();
  }
}
