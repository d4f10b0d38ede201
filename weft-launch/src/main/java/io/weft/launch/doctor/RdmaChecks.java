// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Checks RDMA: the library, the kernel's devices, their device files, ports and GID tables. It
/// reads files below a root, and loads no library.
final class RdmaChecks {

  private static final String AREA = "rdma";
  private static final String MORE = "; see docs/rdma.md";

  private RdmaChecks() {}

  static List<CheckResult> look() {
    return look(Path.of("/"));
  }

  static List<CheckResult> look(Path root) {
    var findings = new ArrayList<CheckResult>();
    try {
      findings.add(RdmaLibrary.look(root));
      List<RdmaDevice> devices = RdmaDevice.all(root);
      if (devices.isEmpty()) {
        findings.add(none(root));
      }
      for (RdmaDevice device : devices) {
        findings.add(node(device));
        for (RdmaPort port : device.ports()) {
          findings.add(port(device, port));
          findings.add(gids(device, port));
        }
      }
    } catch (IOException | IllegalArgumentException unreadable) {
      findings.add(
          CheckResult.limited(
              AREA, "devices", "cannot be told: " + unreadable, "look with 'ibv_devinfo -v'"));
    }
    return findings;
  }

  private static CheckResult none(Path root) {
    String found =
        Files.isDirectory(root.resolve("sys/class/infiniband"))
            ? "the kernel knows RDMA, and has no device"
            : "the kernel has no driver for RDMA loaded";
    return CheckResult.missing(
        AREA,
        "devices",
        "none: " + found,
        "load the card's driver, or make one in software: 'modprobe rdma_rxe' and"
            + " 'rdma link add rxe0 type rxe netdev eth0'"
            + MORE);
  }

  private static CheckResult node(RdmaDevice device) {
    String subject = device.name();
    Optional<Path> node = device.node();
    if (node.isEmpty()) {
      return CheckResult.missing(
          AREA,
          subject,
          "programs cannot open it: ib_uverbs is not loaded",
          "'modprobe ib_uverbs'");
    }
    Path file = node.get();
    if (!Files.exists(file)) {
      return CheckResult.missing(
          AREA,
          subject,
          file + " is not there",
          "in a container, start it with --device=" + file + "; else let udev make it");
    }
    return Files.isReadable(file) && Files.isWritable(file)
        ? CheckResult.works(AREA, subject, file + " can be opened")
        : CheckResult.missing(
            AREA,
            subject,
            "no permission to read and write " + file,
            "'chmod 666 " + file + "', or a rule of udev: KERNEL==\"uverbs*\", MODE=\"0666\"");
  }

  private static CheckResult port(RdmaDevice device, RdmaPort port) {
    String subject = device.name() + ", port " + port.number();
    String detail = port.state() + ", " + port.physical() + ", " + port.link();
    if (port.state().equals("ACTIVE")) {
      return CheckResult.works(AREA, subject, detail);
    }
    String remedy;
    if (port.ethernet()) {
      String netdev = port.gids().stream().map(RdmaPort.Gid::netdev).findFirst().orElse("eth0");
      remedy = "bring its interface up: 'ip link set " + netdev + " up'; look at the cable";
    } else if (port.physical().equals("LinkUp")) {
      remedy = "no subnet manager has set it up: start one, for instance opensm, on one host";
    } else {
      remedy = "look at the cable and the switch";
    }
    return CheckResult.missing(AREA, subject, detail, remedy + MORE);
  }

  private static CheckResult gids(RdmaDevice device, RdmaPort port) {
    String subject = device.name() + ", port " + port.number() + ", GIDs";
    if (!port.ethernet()) {
      return port.lid() != 0
          ? CheckResult.works(AREA, subject, "addressed by LID " + port.lid())
          : CheckResult.missing(
              AREA, subject, "the port has no LID", "start a subnet manager, for instance opensm");
    }
    List<RdmaPort.Gid> routable = port.gids().stream().filter(RdmaPort.Gid::routable).toList();
    String count = port.gids().size() + " in use, " + routable.size() + " of RoCE v2";
    Optional<RdmaPort.Gid> mapped = routable.stream().filter(RdmaPort.Gid::mapped).findFirst();
    if (mapped.isPresent()) {
      return CheckResult.works(
          AREA, subject, count + "; " + mapped.get() + " on " + mapped.get().netdev());
    }
    String address = "give the interface an IPv4 address: 'ip addr add ADDRESS/24 dev NAME'" + MORE;
    return routable.isEmpty()
        ? CheckResult.missing(AREA, subject, count, address)
        : CheckResult.limited(
            AREA, subject, count + ", none of an IPv4 address; " + routable.getFirst(), address);
  }
}
