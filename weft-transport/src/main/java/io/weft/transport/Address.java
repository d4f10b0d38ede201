// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

/// Where a transport can be reached; text that only its own transport understands, such as
/// `tcp:127.0.0.1:4711`.
///
/// @param scheme name of the transport
/// @param location the rest; opaque to everybody else
public record Address(String scheme, String location) {

  /// Reads what `toString` wrote. Throws `IllegalArgumentException` where there is no colon.
  public static Address parse(String text) {
    int colon = text.indexOf(':');
    if (colon <= 0) {
      throw new IllegalArgumentException("address '" + text + "' is not SCHEME:LOCATION");
    }
    return new Address(text.substring(0, colon), text.substring(colon + 1));
  }

  @Override
  public String toString() {
    return scheme + ":" + location;
  }
}
