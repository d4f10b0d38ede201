// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import io.weft.testkit.forward.ForwardingEndpoint;
import io.weft.testkit.forward.ForwardingSink;
import io.weft.testkit.forward.ForwardingTransport;
import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.PeerMemory;
import io.weft.transport.RemoteRegion;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A provider whose `blind` nodes cannot map the memory of any peer, though the peers offer it. All
/// other behavior is that of the `real` provider.
record BlindProvider(TransportProvider real, Set<Integer> blind) implements TransportProvider {

  @Override
  public String scheme() {
    return real.scheme();
  }

  @Override
  public Availability probe() {
    return real.probe();
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    if (!blind.contains(config.credentials().node())) {
      return real.open(config, sink);
    }
    ForwardingSink blinded = new ForwardingSink(sink, BlindEndpoint::new);
    return new ForwardingTransport(real.open(config, blinded)) {
      @Override
      public Endpoint connect(Address peer, int node) {
        return blinded.inFrontOf(super.connect(peer, node));
      }
    };
  }

  private static final class BlindEndpoint extends ForwardingEndpoint {

    BlindEndpoint(Endpoint real) {
      super(real);
    }

    @Override
    public @Nullable PeerMemory map(RemoteRegion region) {
      return null;
    }
  }
}
