// SPDX-License-Identifier: Apache-2.0
package io.weft;

import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The watch on the local launcher, which ends this process when the launcher has died, so that a
/// killed launcher leaves no ranks behind.
final class LauncherWatch {

  /// Exit code of a rank whose launcher has died, equal to that of a process ended by SIGHUP.
  private static final int HUNG_UP = 129;

  private static final Logger LOG = LoggerFactory.getLogger(LauncherWatch.class);

  private LauncherWatch() {}

  static void start(Map<String, String> environment) {
    String pid = environment.get("WEFT_LAUNCHER_PID");
    if (pid == null || !pid.matches("\\d{1,18}")) {
      return;
    }
    var launcher = ProcessHandle.of(Long.parseLong(pid));
    if (launcher.isEmpty()) {
      end(pid);
      return;
    }
    var unused =
        launcher
            .get()
            .onExit()
            .thenRun(
                () -> {
                  end(pid);
                });
  }

  private static void end(String pid) {
    LOG.error("the launcher, process {}, has ended; this rank ends too", pid);
    Runtime.getRuntime().halt(HUNG_UP);
  }
}
