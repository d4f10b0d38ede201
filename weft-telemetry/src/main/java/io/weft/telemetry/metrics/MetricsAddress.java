// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import java.util.Objects;

/// The address of the metrics of a host's ranks: local rank r serves at port + r.
///
/// @param host name or address, without brackets
/// @param port port of local rank 0, 1 to 65535
public record MetricsAddress(String host, int port) {
  /// Throws `NullPointerException` if the host is null.
  public MetricsAddress {
    Objects.requireNonNull(host, "host");
  }

  private static final String WANTED = "must be HOST:PORT, such as 127.0.0.1:9400, or PORT";

  /// Parses an address; `PORT` alone means loopback. Throws `IllegalArgumentException` whose
  /// message describes the expected text.
  static MetricsAddress parse(String text) {
    String stripped = text.strip();
    int colon = stripped.lastIndexOf(':');
    String host = colon < 0 ? "127.0.0.1" : stripped.substring(0, colon);
    boolean bracketed = host.startsWith("[") && host.endsWith("]") && host.length() > 2;
    String port = stripped.substring(colon + 1);
    if (host.isBlank() || (host.indexOf(':') >= 0 && !bracketed) || !port.matches("[0-9]{1,5}")) {
      throw new IllegalArgumentException(WANTED);
    }
    int number = Integer.parseInt(port);
    if (number < 1 || number > 65535) {
      throw new IllegalArgumentException(WANTED + "; the port is from 1 to 65535");
    }
    return new MetricsAddress(bracketed ? host.substring(1, host.length() - 1) : host, number);
  }

  /// Returns the address of this local rank. Throws `IllegalArgumentException` if its port exceeds
  /// 65535.
  MetricsAddress of(int localRank) {
    if (port + localRank > 65535) {
      throw new IllegalArgumentException(
          "local rank " + localRank + " has no port above " + port + "; give a lower one");
    }
    return new MetricsAddress(host, port + localRank);
  }

  @Override
  public String toString() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
