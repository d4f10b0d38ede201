// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.util.List;

/// The provider of the transports of one process in a simulated network.
public final class SimProvider implements TransportProvider {

  static final String SCHEME = "sim";

  private final Network network;
  private final SimNode node;

  /// Creates a provider for a process of this network.
  public SimProvider(Network network, SimNode node) {
    this.network = network;
    this.node = node;
  }

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public Availability probe() {
    return new Availability.Available(List.of(network.capabilities()));
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    return new SimTransport(network, node, config, sink);
  }
}
