// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.TransportException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;

/// Parses and formats socket addresses: `host`, `host:port`, `[ipv6]:port`.
final class TcpAddress {

  private TcpAddress() {}

  /// Parses a listening address; a name is resolved, which may block. Port 0 lets the system
  /// choose.
  static InetSocketAddress toBind(String text) {
    int colon = portColon(text);
    String host = bare(colon < 0 ? text : text.substring(0, colon));
    int port = colon < 0 ? 0 : port(text, colon);
    try {
      InetAddress address = InetAddress.getByName(host);
      if (host.isEmpty() || address.isAnyLocalAddress()) {
        throw new TransportException.DeviceLost(
            "cannot listen on '"
                + text
                + "': it is not a single address; name the address that peers must reach, such as"
                + " 127.0.0.1 or that of one network interface",
            null);
      }
      return new InetSocketAddress(address, port);
    } catch (UnknownHostException e) {
      throw new TransportException.DeviceLost(
          "cannot listen on '" + text + "': the host is unknown; use an address of this host", e);
    }
  }

  /// Parses a peer's location. It must be a literal address, so that nothing is resolved; otherwise
  /// the method throws `IllegalArgumentException`.
  static InetSocketAddress toConnect(String text) {
    int colon = portColon(text);
    if (colon < 0) {
      throw new IllegalArgumentException("'" + text + "' has no port");
    }
    return new InetSocketAddress(
        InetAddress.ofLiteral(bare(text.substring(0, colon))), port(text, colon));
  }

  /// Formats an address for `toConnect`.
  static String format(SocketAddress address) {
    if (address instanceof InetSocketAddress inet && inet.getAddress() != null) {
      String host = inet.getAddress().getHostAddress();
      boolean six = inet.getAddress() instanceof Inet6Address;
      return (six ? "[" + host + "]" : host) + ":" + inet.getPort();
    }
    return address.toString();
  }

  private static int portColon(String text) {
    int colon = text.lastIndexOf(':');
    boolean plainSix = text.indexOf(':') != colon && !text.startsWith("[");
    return plainSix || text.endsWith("]") ? -1 : colon;
  }

  private static String bare(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  private static int port(String text, int colon) {
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      if (port >= 0 && port <= 0xFFFF) {
        return port;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + text + "' has no number as its port", e);
    }
    throw new IllegalArgumentException("the port in '" + text + "' is not in 0..65535");
  }
}
