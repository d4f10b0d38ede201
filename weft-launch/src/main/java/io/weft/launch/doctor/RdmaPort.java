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

/// A port of an RDMA device, as Linux describes it in `/sys/class/infiniband/DEVICE/ports/N`.
///
/// @param number from 1
/// @param state "ACTIVE", "DOWN", "INIT", ...; the text after the number in the file
/// @param physical "LinkUp", "Disabled", "Polling", ...
/// @param link "InfiniBand" or "Ethernet"
/// @param lid address assigned by the subnet manager; 0 without one, and always on Ethernet
/// @param gids used entries of its GID table
record RdmaPort(
    int number, String state, String physical, String link, int lid, List<RdmaPort.Gid> gids) {

  /// An entry of the GID table.
  ///
  /// @param index its place, which other programs call `gid-index`
  /// @param address address in the notation of IPv6; `::ffff:10.0.0.1` for an IPv4 address
  /// @param type "RoCE v2", "IB/RoCE v1"; empty = unknown to the kernel
  /// @param netdev network interface of the entry; empty on InfiniBand
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

  /// Returns the address in text. Java converts a mapped address to IPv4; this method restores the
  /// mapped form.
  private static String address(String gid) {
    String written = InetAddress.ofLiteral(gid).getHostAddress().toLowerCase(Locale.ROOT);
    return written.contains(":") ? written : "::ffff:" + written;
  }

  /// Returns the text after the colon, as in `4: ACTIVE`.
  private static String named(String state) {
    return state.substring(state.indexOf(':') + 1).strip();
  }

  /// Returns the file's text; empty if it cannot be read. The kernel refuses to read the type of an
  /// unused entry.
  private static String text(Path file) {
    return SystemFiles.text(file.toString()).orElse("");
  }
}
