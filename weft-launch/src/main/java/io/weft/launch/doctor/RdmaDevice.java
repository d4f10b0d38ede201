// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// An RDMA device, as Linux describes it in `/sys/class/infiniband`.
///
/// @param name "mlx5_0", "rxe0"
/// @param node the file by which programs open the device; empty = the kernel offers none
/// @param ports ordered by number
record RdmaDevice(String name, Optional<Path> node, List<RdmaPort> ports) {

  /// Returns the devices of the system whose files are below `root`, by name; may be empty.
  static List<RdmaDevice> all(Path root) throws IOException {
    var devices = new ArrayList<RdmaDevice>();
    for (Path files : inside(root.resolve("sys/class/infiniband"))) {
      var ports = new ArrayList<RdmaPort>();
      for (Path port : inside(files.resolve("ports"))) {
        ports.add(RdmaPort.read(port));
      }
      ports.sort(Comparator.comparingInt(RdmaPort::number));
      String name = files.getFileName().toString();
      devices.add(new RdmaDevice(name, node(root, name), ports));
    }
    return devices;
  }

  private static Optional<Path> node(Path root, String device) throws IOException {
    for (Path files : inside(root.resolve("sys/class/infiniband_verbs"))) {
      if (SystemFiles.text(files.resolve("ibdev").toString()).equals(Optional.of(device))) {
        return Optional.of(root.resolve("dev/infiniband").resolve(files.getFileName()));
      }
    }
    return Optional.empty();
  }

  private static List<Path> inside(Path directory) throws IOException {
    var entries = new ArrayList<Path>();
    if (Files.isDirectory(directory)) {
      try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
        stream.forEach(entries::add);
      }
    }
    entries.sort(Comparator.naturalOrder());
    return entries;
  }
}
