// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import io.weft.config.Settings;
import java.time.Duration;

/// How to open a transport.
///
/// @param bind where to listen: `host`, `host:port`, or a device's name; TCP listens on exactly
///   this address
/// @param connectDeadline bounds a connection's set-up, handshake included
/// @param credentials who we are and what we must prove
/// @param encryption whether and how bytes are encrypted where they leave the process
/// @param settings of which a transport reads those that it declares
public record TransportConfig(
    String bind,
    Duration connectDeadline,
    Credentials credentials,
    Encryption encryption,
    Settings settings) {

  /// With the defaults of all settings.
  public TransportConfig(
      String bind, Duration connectDeadline, Credentials credentials, Encryption encryption) {
    this(bind, connectDeadline, credentials, encryption, Settings.defaults());
  }

  /// Without encryption.
  public TransportConfig(String bind, Duration connectDeadline, Credentials credentials) {
    this(bind, connectDeadline, credentials, new Encryption.Off());
  }
}
