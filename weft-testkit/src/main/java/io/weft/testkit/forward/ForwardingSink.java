// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.forward;

import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.function.UnaryOperator;

/// A sink that forwards all events to another, with the wrapper of each real endpoint in its place.
/// Confined to the polling thread.
public final class ForwardingSink implements FrameSink {

  private final FrameSink sink;
  private final UnaryOperator<Endpoint> front;
  private final IdentityHashMap<Endpoint, Endpoint> fronts = new IdentityHashMap<>();

  /// @param front wraps a real endpoint; called once for each
  public ForwardingSink(FrameSink sink, UnaryOperator<Endpoint> front) {
    this.sink = sink;
    this.front = front;
  }

  /// Returns the wrapper of this endpoint.
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
