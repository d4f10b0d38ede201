// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;

/// Shared memory as on a host of another name: only peers that open it under the same name share
/// memory.
///
/// @param host the name
public record Elsewhere(String host) implements TransportProvider {

  @Override
  public String scheme() {
    return ShmProvider.SCHEME;
  }

  @Override
  public Availability probe() {
    return new ShmProvider().probe();
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    return ShmProvider.open(config, sink, new ProcessDomain(host));
  }
}
