// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import io.weft.config.Settings;
import java.time.Duration;

/// The parameters of opening a transport.
///
/// @param bind listening address: `host`, `host:port`, or a device's name; TCP listens on exactly
///   this address
/// @param connectDeadline bounds a connection's set-up, including the handshake
/// @param credentials the identity of this process and the secret to prove
/// @param encryption the encryption of bytes that leave the process
/// @param settings the settings, including those that the transport declares
public record TransportConfig(
    String bind,
    Duration connectDeadline,
    Credentials credentials,
    Encryption encryption,
    Settings settings) {

  /// Creates a configuration with the defaults of all settings.
  public TransportConfig(
      String bind, Duration connectDeadline, Credentials credentials, Encryption encryption) {
    this(bind, connectDeadline, credentials, encryption, Settings.defaults());
  }

  /// Creates a configuration without encryption.
  public TransportConfig(String bind, Duration connectDeadline, Credentials credentials) {
    this(bind, connectDeadline, credentials, new Encryption.Off());
  }
}
