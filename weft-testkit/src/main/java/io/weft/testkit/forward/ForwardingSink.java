// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.forward;

import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.function.UnaryOperator;

/// A sink that forwards all events to another, as events of the endpoints in front of the real
/// ones. Confined to the polling thread.
public final class ForwardingSink implements FrameSink {

  private final FrameSink sink;
  private final UnaryOperator<Endpoint> front;
  private final IdentityHashMap<Endpoint, Endpoint> fronts = new IdentityHashMap<>();

  /// @param front puts an endpoint in front of a real one, once for each
  public ForwardingSink(FrameSink sink, UnaryOperator<Endpoint> front) {
    this.sink = sink;
    this.front = front;
  }

  /// Returns the endpoint in front of this one.
  public Endpoint inFrontOf(Endpoint real) {
    return fronts.computeIfAbsent(real, front);
  }

  @Override
  public void onConnect(Endpoint endpoint) {
    sink.onConnect(inFrontOf(endpoint));
  }

  @Override
  public void onMessage(Endpoint from, MemorySegment message) {
    sink.onMessage(inFrontOf(from), message);
  }

  @Override
  public void onNotify(Endpoint from, int immediate) {
    sink.onNotify(inFrontOf(from), immediate);
  }

  @Override
  public void onFailure(Endpoint from, TransportException cause) {
    sink.onFailure(inFrontOf(from), cause);
  }
}
