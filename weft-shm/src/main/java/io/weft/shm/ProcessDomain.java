// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The domain in which a process number is unique: one boot of one kernel and one process
/// namespace. The domain includes the host's name, because the topology distinguishes hosts by
/// name, and processes on two such hosts must not share memory.
///
/// @param identity equal for two processes if and only if they are in the same domain
record ProcessDomain(String identity) {

  /// Returns this process's domain. Throws `IOException` if the system does not provide it.
  static ProcessDomain here() throws IOException {
    String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    String namespace = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    String name = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    return new ProcessDomain(boot + " " + namespace + " " + name);
  }

  /// Returns whether the other domain is on the same kernel, possibly under another host name or in
  /// another process namespace. Two containers of one machine are an example.
  boolean isOneMachineWith(String other) {
    return boot(identity).equals(boot(other));
  }

  private static String boot(String identity) {
    return identity.split(" ", 2)[0];
  }

  /// Returns why a process in the other domain cannot share memory with this one; empty if it can.
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
        + " containers are; start both with '--pid host --uts host' to share memory";
  }

  /// Returns the start time of the process in ticks since boot; -1 if it is dead.
  static long startTicks(long process) {
    try {
      String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
      // The state follows the name in parentheses, which may contain anything. The 22nd field is
      // the start.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return fields[0].equals("Z") || fields[0].equals("X") ? -1 : Long.parseLong(fields[19]);
    } catch (IOException | RuntimeException e) {
      return -1;
    }
  }
}
