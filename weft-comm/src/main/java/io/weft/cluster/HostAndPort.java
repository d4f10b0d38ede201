// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.ConfigOption;
import io.weft.comm.CommException;
import java.util.Objects;

/// Where a server is: `node7:29400`, `10.0.0.7:29400`, `[::1]:29400`.
///
/// @param host without brackets
/// @param port 1 to 65535
record HostAndPort(String host, int port) {

  /// `source` names where the text was found, for the message.
  static HostAndPort parse(String text, String source) {
    String checked;
    try {
      checked = ConfigOption.STORE.parse(text, source);
    } catch (CommException.Setup refused) {
      Throwable reason = Objects.requireNonNullElse(refused.getCause(), refused);
      throw new CommException.Setup(
          source + " is '" + text + "'; it " + reason.getMessage(), refused);
    }
    int colon = checked.lastIndexOf(':');
    String host = checked.substring(0, colon);
    return new HostAndPort(
        host.startsWith("[") ? host.substring(1, colon - 1) : host,
        Integer.parseInt(checked.substring(colon + 1)));
  }
}
