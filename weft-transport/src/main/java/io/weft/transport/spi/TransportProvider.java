// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import io.weft.config.PresentProviders;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/// A kind of transport, named in a provider file of `ServiceLoader`. Stateless.
public interface TransportProvider {

  /// All that are there; a name in a provider file without its class is a transport whose jar is
  /// not. Throws `ServiceConfigurationError` where a provider file cannot be read, or names a class
  /// that is no provider.
  static List<TransportProvider> all() {
    return PresentProviders.of(ServiceLoader.load(TransportProvider.class));
  }

  /// The one of this scheme.
  static Optional<TransportProvider> find(String scheme) {
    return all().stream().filter(provider -> provider.scheme().equals(scheme)).findFirst();
  }

  /// The name users say: "inproc", "tcp", "shm", "verbs".
  String scheme();

  /// What is there, or why not. Never throws.
  Availability probe();

  /// Opens a device and starts listening. Throws `TransportException.DeviceLost` with the address
  /// and what to do when that cannot be done (address in use, not an address of this host).
  Transport open(TransportConfig config, FrameSink sink);
}
