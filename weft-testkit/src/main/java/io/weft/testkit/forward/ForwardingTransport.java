// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.forward;

import io.weft.transport.Address;
import io.weft.transport.Capabilities;
import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/// A transport that forwards all calls to another, which it closes.
public class ForwardingTransport implements Transport {

  private final Transport real;

  /// Creates a wrapper of `real`.
  public ForwardingTransport(Transport real) {
    this.real = real;
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
    return real.connect(peer, node);
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
  public boolean isForeign(MemorySegment segment) {
    return real.isForeign(segment);
  }

  @Override
  public int pollingThreads() {
    return real.pollingThreads();
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
  public Map<String, Long> counters() {
    return real.counters();
  }

  @Override
  public void close() {
    real.close();
  }
}
