// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.testkit.forward.ForwardingTransport;
import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.Transport;

/// A transport that makes the connections of another through a relay.
final class FaultyTransport extends ForwardingTransport {

  private final Relay relay;

  FaultyTransport(Transport real, Relay relay) {
    super(real);
    this.relay = relay;
  }

  @Override
  public Endpoint connect(Address peer, int node) {
    return super.connect(relay.to(peer, node, address()), node);
  }

  @Override
  public void close() {
    super.close();
    relay.close();
  }
}
