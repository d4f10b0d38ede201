// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/// One port of an RDMA device, as Linux describes it in `/sys/class/infiniband/DEVICE/ports/N`.
///
/// @param number from 1
/// @param state "ACTIVE", "DOWN", "INIT", ...; what follows the number in the file
/// @param physical "LinkUp", "Disabled", "Polling", ...
/// @param link "InfiniBand" or "Ethernet"
/// @param lid address that the subnet manager gave; 0 without one, and always on Ethernet
/// @param gids entries of its GID table that are in use
record RdmaPort(
    int number, String state, String physical, String link, int lid, List<RdmaPort.Gid> gids) {

  /// An entry of the GID table.
  ///
  /// @param index its place, which `gid-index` of other programs means
  /// @param address as IPv6 writes it; `::ffff:10.0.0.1` where it stands for an IPv4 address
  /// @param type "RoCE v2", "IB/RoCE v1"; empty where the kernel does not say
  /// @param netdev the network interface that it belongs to; empty on InfiniBand
  record Gid(int index, String address, String type, String netdev) {

    boolean routable() {
      return type.equals("RoCE v2");
    }

    boolean mapped() {
      return address.startsWith("::ffff:");
    }

    @Override
    public String toString() {
      return index + " = " + address;
    }
  }

  private static final String UNUSED = "0000:0000:0000:0000:0000:0000:0000:0000";

  boolean ethernet() {
    return link.equals("Ethernet");
  }

  static RdmaPort read(Path files) throws IOException {
    String lid = text(files.resolve("lid"));
    return new RdmaPort(
        Integer.parseInt(files.getFileName().toString()),
        named(text(files.resolve("state"))),
        named(text(files.resolve("phys_state"))),
        text(files.resolve("link_layer")),
        lid.isEmpty() ? 0 : Integer.decode(lid),
        gids(files));
  }

  private static List<Gid> gids(Path files) throws IOException {
    var gids = new ArrayList<Gid>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(files.resolve("gids"))) {
      for (Path entry : entries) {
        String gid = text(entry);
        String index = entry.getFileName().toString();
        if (!gid.isEmpty() && !gid.equals(UNUSED)) {
          gids.add(
              new Gid(
                  Integer.parseInt(index),
                  address(gid),
                  text(files.resolve("gid_attrs/types").resolve(index)),
                  text(files.resolve("gid_attrs/ndevs").resolve(index))));
        }
      }
    }
    gids.sort(Comparator.comparingInt(Gid::index));
    return gids;
  }

  /// Java makes an IPv4 address of one that is mapped; this keeps both forms apart.
  private static String address(String gid) {
    String written = InetAddress.ofLiteral(gid).getHostAddress().toLowerCase(Locale.ROOT);
    return written.contains(":") ? written : "::ffff:" + written;
  }

  /// `4: ACTIVE`.
  private static String named(String state) {
    return state.substring(state.indexOf(':') + 1).strip();
  }

  /// Empty where it cannot be read: the kernel refuses to read the type of an unused entry.
  private static String text(Path file) {
    return SystemFiles.text(file.toString()).orElse("");
  }
}
