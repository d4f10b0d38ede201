// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import java.time.Duration;
import java.util.Map;

/// How to open a transport.
///
/// @param bind where to listen: `host`, `host:port`, or a device's name; TCP listens on exactly
///   this address
/// @param connectDeadline bounds a connection's set-up, handshake included
/// @param credentials who we are and what we must prove
/// @param encryption whether and how bytes are encrypted where they leave the process
/// @param settings the scheme's own settings by name, for instance `ring-bytes` of `verbs`; those
///   that are not here the transport finds for itself, others it does not look at
public record TransportConfig(
    String bind,
    Duration connectDeadline,
    Credentials credentials,
    Encryption encryption,
    Map<String, String> settings) {

  /// Copies the settings.
  public TransportConfig {
    settings = Map.copyOf(settings);
  }

  /// Without settings of the scheme's own.
  public TransportConfig(
      String bind, Duration connectDeadline, Credentials credentials, Encryption encryption) {
    this(bind, connectDeadline, credentials, encryption, Map.of());
  }

  /// Without encryption.
  public TransportConfig(String bind, Duration connectDeadline, Credentials credentials) {
    this(bind, connectDeadline, credentials, new Encryption.Off());
  }
}
