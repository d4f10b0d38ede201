// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.util.List;

/// The provider of transports within this JVM, each polled by its own thread. Stateless and
/// thread-safe.
public final class InprocProvider implements TransportProvider {

  static final String SCHEME = "inproc";

  /// Creates the provider for `ServiceLoader`.
  public InprocProvider() {}

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public Availability probe() {
    return new Availability.Available(List.of(InprocTransport.CAPABILITIES));
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    return InprocTransport.open(config, sink);
  }
}
