// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.util.List;

/// The provider of TCP between hosts. Stateless and thread-safe.
public final class TcpProvider implements TransportProvider {

  static final String SCHEME = "tcp";

  /// Creates the provider for `ServiceLoader`.
  public TcpProvider() {}

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public Availability probe() {
    return new Availability.Available(List.of(TcpTransport.CAPABILITIES));
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    return new TcpTransport(config, sink);
  }
}
