// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.text.Printable;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;

/// The identity of a host: its name and the boot of its kernel. Two hosts with the same name differ
/// in the boot; two containers of one kernel differ in the name.
///
/// @param name the name for people, on one printable line
/// @param boot the kernel's boot id; empty if the system has none
record HostIdentity(String name, String boot) {

  private static final Path NAME = Path.of("/proc/sys/kernel/hostname");
  private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

  HostIdentity {
    name = Printable.of(name);
  }

  static HostIdentity local() {
    String name = read(NAME);
    return new HostIdentity(name.isEmpty() ? resolved() : name, read(BOOT));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException notLinux) {
      return "";
    }
  }

  private static String resolved() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (IOException nameless) {
      return "localhost";
    }
  }
}
