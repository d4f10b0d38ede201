// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import io.weft.WeftConfig;
import io.weft.testkit.forward.ForwardingTransport;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicInteger;

/// A provider with a defective transport: the transport of the rank `victim`, if one is set, throws
/// when it is polled. All other behavior is that of the `real` provider.
record BrittleProvider(TransportProvider real, AtomicInteger victim) implements TransportProvider {

  static BrittleProvider of(String scheme) {
    return new BrittleProvider(
        ServiceLoader.load(TransportProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(p -> p.scheme().equals(scheme))
            .findFirst()
            .orElseThrow(),
        new AtomicInteger(-1));
  }

  /// Starts a job over this provider.
  LocalJob job(int size) {
    return LocalJob.start(size, WeftConfig.builder().build(), this);
  }

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
    int node = config.credentials().node();
    return new ForwardingTransport(real.open(config, sink)) {
      @Override
      public int poll(long nowNanos) {
        if (victim.get() == node) {
          throw new IllegalStateException("rehearsed defect");
        }
        return super.poll(nowNanos);
      }
    };
  }
}
