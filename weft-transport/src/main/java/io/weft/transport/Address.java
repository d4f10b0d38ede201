// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

/// The location of a transport, as text that only a transport of the same scheme interprets, such
/// as `tcp:127.0.0.1:4711`.
///
/// @param scheme name of the transport
/// @param location the rest; opaque to other code
public record Address(String scheme, String location) {

  /// Parses the result of `toString`. Throws `IllegalArgumentException` if the scheme or colon is
  /// missing.
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
