// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Where a process number means the same process: one boot of one kernel, one process namespace.
/// The host's name belongs to it, too, because by name the topology tells hosts apart: what counts
/// as two hosts there talks like two hosts.
///
/// @param identity equal for two processes exactly when they are in one place
record Host(String identity) {

  /// This process's place. Throws `IOException` where the system does not tell.
  static Host here() throws IOException {
    String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    String name = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    return new Host(boot + " " + namespace + " " + name);
  }

  /// When the process was started, in ticks since boot; -1 if it is dead.
  static long startTicks(long process) {
    try {
      String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
      // After the name in parentheses, which may contain anything: state, ...; start is field 22.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return fields[0].equals("Z") || fields[0].equals("X") ? -1 : Long.parseLong(fields[19]);
    } catch (IOException | RuntimeException e) {
      return -1;
    }
  }
}
