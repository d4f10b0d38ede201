// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.spi.TransportProvider;
import io.weft.transport.tcp.TcpProvider;

class TcpTransportTest extends TransportContract {

  @Override
  protected TransportProvider provider() {
    return new TcpProvider();
  }

  @Override
  protected String bind() {
    return "127.0.0.1";
  }
}
