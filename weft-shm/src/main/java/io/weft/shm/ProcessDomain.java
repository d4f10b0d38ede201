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
record ProcessDomain(String identity) {

  /// This process's place. Throws `IOException` where the system does not tell.
  static ProcessDomain here() throws IOException {
    String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    String name = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    return new ProcessDomain(boot + " " + namespace + " " + name);
  }

  /// Whether the other place runs on the same kernel, be it under another name or in another
  /// process namespace. Two containers of one machine do.
  boolean isOneMachineWith(String other) {
    return boot(identity).equals(boot(other));
  }

  private static String boot(String identity) {
    return identity.split(" ", 2)[0];
  }

  /// Why a process in the other place shares no memory with one here; empty if it can.
  String apartFrom(String other) {
    if (other.equals(identity)) {
      return "";
    }
    if (other.isEmpty()) {
      return "it has no memory to share";
    }
    if (!isOneMachineWith(other)) {
      return "it is on another host";
    }
    return "it is on this machine but in another process namespace or under another host name, as"
        + " containers are; start both with the same ones ('--pid host --uts host') to share"
        + " memory";
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
