// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.util.Objects;

/// Another provider whose connections go through a relay, which does to them what the faults say.
/// For transports that connect by TCP and whose addresses are `HOST:PORT`. Any thread.
///
/// Each connection has its relay in the process that makes it, which for two ranks is the higher
/// one; so all ranks of a job can be told the same plan.
public final class FaultyProvider implements TransportProvider {

  private final TransportProvider real;
  private final Faults faults;

  /// Faults on the connections of `real`.
  public FaultyProvider(TransportProvider real, Faults faults) {
    Objects.requireNonNull(real, "real");
    Objects.requireNonNull(faults, "faults");
    this.real = real;
    this.faults = faults;
  }

  /// `faulty-` and the real one's.
  @Override
  public String scheme() {
    return "faulty-" + real.scheme();
  }

  @Override
  public Availability probe() {
    return real.probe();
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    Objects.requireNonNull(sink, "sink");
    Transport transport = real.open(config, sink);
    try {
      return new FaultyTransport(transport, new Relay(config.credentials().node(), faults));
    } catch (RuntimeException e) {
      transport.close();
      throw e;
    }
  }
}
