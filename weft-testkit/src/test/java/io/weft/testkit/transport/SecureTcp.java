// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import io.weft.transport.tcp.TcpProvider;

/// TCP with this encryption, whatever the configuration of a test's nodes.
record SecureTcp(Encryption encryption) implements TransportProvider {

  private static final TcpProvider TCP = new TcpProvider();

  @Override
  public String scheme() {
    return TCP.scheme();
  }

  @Override
  public Availability probe() {
    return TCP.probe();
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    return TCP.open(
        new TransportConfig(
            config.bind(), config.connectDeadline(), config.credentials(), encryption),
        sink);
  }
}
