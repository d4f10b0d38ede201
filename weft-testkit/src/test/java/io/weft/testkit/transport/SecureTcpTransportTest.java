// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.TransportProvider;

class SecureTcpTransportTest extends TransportContract {

  @Override
  protected TransportProvider provider() {
    return new SecureTcp(new Encryption.Ephemeral());
  }

  @Override
  protected String bind() {
    return "127.0.0.1";
  }
}
