// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.testkit.transport.TransportContract;
import io.weft.transport.spi.TransportProvider;

class SimTransportTest extends TransportContract {

  private final TransportProvider provider = new RealTimeNetwork(1);

  @Override
  protected TransportProvider provider() {
    return provider;
  }

  @Override
  protected String bind() {
    return Network.hostName(0);
  }
}
