// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.CommException;

/// Where a server is: `node7:29400`, `10.0.0.7:29400`, `[::1]:29400`.
///
/// @param host without brackets
/// @param port 1 to 65535
record HostAndPort(String host, int port) {

  /// `source` names where the text was found, for the message.
  static HostAndPort parse(String text, String source) {
    int colon = text.lastIndexOf(':');
    String port = text.substring(colon + 1);
    if (colon <= 0 || !port.matches("[0-9]{1,5}")) {
      throw refused(text, source);
    }
    String host = text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    int number = Integer.parseInt(port);
    if (host.isBlank() || number < 1 || number > 65535) {
      throw refused(text, source);
    }
    return new HostAndPort(host, number);
  }

  private static CommException.Setup refused(String text, String source) {
    return new CommException.Setup(
        source + " is '" + text + "'; it must be HOST:PORT, such as 10.0.0.7:29400", null);
  }
}
