// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A directory tree that imitates the files below `/sys` and `/proc` of a real system.
record SystemTree(Path root) {

  /// Creates a file with this text, and its parent directories.
  SystemTree file(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
    return this;
  }

  /// Creates libibverbs with one provider.
  SystemTree library() throws IOException {
    return file("usr/lib/x86_64-linux-gnu/libibverbs.so.1", "")
        .file("usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so", "");
  }

  /// Creates a device with a file that opens it and one port, without GIDs.
  SystemTree device(String name, String state, String physical, String link, String lid)
      throws IOException {
    String port = "sys/class/infiniband/" + name + "/ports/1/";
    Files.createDirectories(root.resolve(port + "gids"));
    return file(port + "state", state)
        .file(port + "phys_state", physical)
        .file(port + "link_layer", link)
        .file(port + "lid", lid)
        .file("sys/class/infiniband_verbs/uverbs0/ibdev", name)
        .file("dev/infiniband/uverbs0", "");
  }

  SystemTree gid(String device, int index, String gid, String type) throws IOException {
    String port = "sys/class/infiniband/" + device + "/ports/1/";
    return file(port + "gids/" + index, gid)
        .file(port + "gid_attrs/types/" + index, type)
        .file(port + "gid_attrs/ndevs/" + index, "eth2");
  }
}
