// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.util.Objects;

/// A provider that wraps another and sends its connections through a relay, which applies the
/// faults. The wrapped transport must connect by TCP and have addresses `HOST:PORT`. Thread-safe.
///
/// The relay of a connection is in the process that makes the connection, which is the higher of
/// the two ranks. All ranks of a job may therefore have the same plan.
public final class FaultyProvider implements TransportProvider {

  private final TransportProvider real;
  private final Faults faults;

  /// Creates a provider that applies the faults to the connections of `real`.
  public FaultyProvider(TransportProvider real, Faults faults) {
    Objects.requireNonNull(real, "real");
    Objects.requireNonNull(faults, "faults");
    this.real = real;
    this.faults = faults;
  }

  /// Returns `faulty-` followed by the scheme of the wrapped provider.
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
