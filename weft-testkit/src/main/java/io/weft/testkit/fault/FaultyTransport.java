// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.spi.Capabilities;
import java.lang.foreign.MemorySegment;

/// Another transport that makes its connections by way of a relay. All else is the other's.
final class FaultyTransport implements Transport {

  private final Transport real;
  private final Relay relay;

  FaultyTransport(Transport real, Relay relay) {
    this.real = real;
    this.relay = relay;
  }

  @Override
  public Address address() {
    return real.address();
  }

  @Override
  public Capabilities capabilities() {
    return real.capabilities();
  }

  @Override
  public Endpoint connect(Address peer, int node) {
    return real.connect(relay.to(peer, node, real.address()), node);
  }

  @Override
  public MemoryRegion allocate(long bytes) {
    return real.allocate(bytes);
  }

  @Override
  public MemoryRegion register(MemorySegment segment, Object owner) {
    return real.register(segment, owner);
  }

  @Override
  public int poll(long nowNanos) {
    return real.poll(nowNanos);
  }

  @Override
  public void flush() {
    real.flush();
  }

  @Override
  public void await(long maxNanos) {
    real.await(maxNanos);
  }

  @Override
  public void wake() {
    real.wake();
  }

  @Override
  public String trouble() {
    return real.trouble();
  }

  @Override
  public long bytesSent() {
    return real.bytesSent();
  }

  @Override
  public void close() {
    real.close();
    relay.close();
  }
}
