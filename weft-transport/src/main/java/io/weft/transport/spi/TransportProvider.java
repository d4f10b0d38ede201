// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import io.weft.config.PresentProviders;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/// A kind of transport, named in a provider file of `ServiceLoader`. Providers are stateless.
public interface TransportProvider {

  /// Returns all present providers; a name in a provider file without a class belongs to a
  /// transport whose jar is absent. Throws `ServiceConfigurationError` if a provider file cannot be
  /// read, or names a class that is not a provider.
  static List<TransportProvider> all() {
    return PresentProviders.of(ServiceLoader.load(TransportProvider.class));
  }

  /// Returns the provider of this scheme.
  static Optional<TransportProvider> find(String scheme) {
    return all().stream().filter(provider -> provider.scheme().equals(scheme)).findFirst();
  }

  /// Returns the name that users specify: "inproc", "tcp", "shm", "verbs".
  String scheme();

  /// Returns the available devices, or the reason why there are none. Never throws.
  Availability probe();

  /// Opens a device and starts listening. Throws `TransportException.DeviceLost` with the address
  /// and the remedy if it cannot (address in use, not an address of this host).
  Transport open(TransportConfig config, FrameSink sink);
}
