// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.comm.CommException;

/// The address of a server: `node7:29400`, `10.0.0.7:29400`, `[::1]:29400`.
///
/// @param host the host without brackets
/// @param port 1 to 65535
record HostAndPort(String host, int port) {

  /// Parses an address. `source` names the origin of the text, for the message.
  static HostAndPort parse(String text, String source) {
    String checked;
    try {
      checked = checked(text);
    } catch (IllegalArgumentException refused) {
      throw new CommException.Setup(
          source + " is '" + text + "'; it " + refused.getMessage(), refused);
    }
    int colon = checked.lastIndexOf(':');
    String host = checked.substring(0, colon);
    return new HostAndPort(
        host.startsWith("[") ? host.substring(1, colon - 1) : host,
        Integer.parseInt(checked.substring(colon + 1)));
  }

  /// Returns the text without surrounding space, if it is a host without a colon, or an address in
  /// brackets, and a port. Throws `IllegalArgumentException` whose message states the required
  /// format.
  static String checked(String text) {
    String wanted = "must be HOST:PORT, such as 10.0.0.7:29400";
    String store = text.strip();
    boolean bracketed = store.startsWith("[");
    int end = bracketed ? store.indexOf(']') + 1 : store.lastIndexOf(':');
    String host = store.substring(0, Math.max(0, end));
    if (!bracketed && host.indexOf(':') >= 0) {
      throw new IllegalArgumentException(
          wanted + "; an IPv6 address needs brackets: write [" + store + "]:PORT");
    }
    if (bracketed && end == store.length()) {
      throw new IllegalArgumentException(wanted + "; write " + store + ":PORT");
    }
    String port = store.substring(Math.min(end + 1, store.length()));
    if (host.isBlank()
        || host.replaceAll("[\\[\\]]", "").isBlank()
        || store.charAt(end) != ':'
        || !port.matches("[0-9]{1,5}")) {
      throw new IllegalArgumentException(wanted);
    }
    if (Integer.parseInt(port) < 1 || Integer.parseInt(port) > 65535) {
      throw new IllegalArgumentException(wanted + "; the port is from 1 to 65535");
    }
    return store;
  }
}
