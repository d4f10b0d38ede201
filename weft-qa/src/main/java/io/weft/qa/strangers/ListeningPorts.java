// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.strangers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The ports on which processes listen, from `/proc` (proc(5)).
final class ListeningPorts {

  private static final String LISTENING = "0A";
  private static final int ADDRESS_FIELD = 1;
  private static final int STATE_FIELD = 3;
  private static final int INODE_FIELD = 9;

  private ListeningPorts() {}

  /// Returns the ports of all these processes. A process that has ended has none.
  static List<InetSocketAddress> of(List<ProcessHandle> processes) throws IOException {
    Set<String> sockets = new TreeSet<>();
    for (ProcessHandle process : processes) {
      sockets.addAll(sockets(Path.of("/proc/" + process.pid() + "/fd")));
    }
    var found = new ArrayList<InetSocketAddress>();
    for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
      if (Files.isReadable(Path.of(table))) {
        for (String line : Files.readAllLines(Path.of(table))) {
          String[] fields = line.strip().split("\\s+", -1);
          if (fields.length > INODE_FIELD
              && fields[STATE_FIELD].equals(LISTENING)
              && sockets.contains("socket:[" + fields[INODE_FIELD] + "]")) {
            found.add(address(fields[ADDRESS_FIELD]));
          }
        }
      }
    }
    return found;
  }

  private static Set<String> sockets(Path descriptors) throws IOException {
    try (Stream<Path> files = Files.list(descriptors)) {
      return files.map(ListeningPorts::target).collect(Collectors.toSet());
    } catch (NoSuchFileException gone) {
      return Set.of();
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException closedMeanwhile) {
      return "";
    }
  }

  /// Parses words of four bytes in the machine's order, here little-endian, and the port.
  private static InetSocketAddress address(String text) throws IOException {
    int colon = text.indexOf(':');
    byte[] words = HexFormat.of().parseHex(text.substring(0, colon));
    byte[] bytes = new byte[words.length];
    for (int i = 0; i < words.length; i++) {
      bytes[i] = words[i / 4 * 4 + 3 - i % 4];
    }
    return new InetSocketAddress(
        InetAddress.getByAddress(bytes), Integer.parseInt(text.substring(colon + 1), 16));
  }
}
