// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.route;

import io.weft.rendezvous.Edge;
import io.weft.rendezvous.frame.TensorSpec;
import org.jspecify.annotations.Nullable;

/// One rank's state of an edge that persists from tensor to tensor: the table of [JIA17 §3.3], by
/// name, source and destination. Confined to the progress thread, except the edge and its urgency.
public final class Route {

  private static final int UNTOLD = -1;

  private final Edge edge;
  private final int number;

  /// The edge's number at the source; `UNTOLD` before the first request.
  private int told = UNTOLD;

  /// The urgency of the edge's tensors. Any thread.
  private volatile int urgency;

  /// The signature of the last received tensor.
  private @Nullable TensorSpec expected;

  /// The memory for the next received tensor.
  private @Nullable RouteBuffer kept;

  /// The memory for the copy of the next published tensor.
  private @Nullable RouteBuffer keptToSend;

  public Route(Edge edge, int number) {
    this.edge = edge;
    this.number = number;
  }

  public Edge edge() {
    return edge;
  }

  /// Number of this route on this rank, from 0.
  public int number() {
    return number;
  }

  public int urgency() {
    return urgency;
  }

  public void prefer(int degree) {
    urgency = degree;
  }

  public boolean isTold() {
    return told != UNTOLD;
  }

  public int told() {
    return told;
  }

  public void tell(int as) {
    told = as;
  }

  public @Nullable TensorSpec expected() {
    return expected;
  }

  public void expect(TensorSpec signature) {
    expected = signature;
  }

  /// Removes and returns the kept memory.
  @Nullable RouteBuffer takeKept() {
    RouteBuffer taken = kept;
    kept = null;
    return taken;
  }

  /// Removes and returns the kept memory of a published tensor.
  @Nullable RouteBuffer takeKeptToSend() {
    RouteBuffer taken = keptToSend;
    keptToSend = null;
    return taken;
  }

  /// Keeps the buffer for the next published tensor if none is kept. Returns whether it did.
  boolean keepToSend(RouteBuffer buffer) {
    if (keptToSend != null) {
      return false;
    }
    keptToSend = buffer;
    return true;
  }

  /// Keeps the buffer if none is kept. Returns whether it did.
  public boolean keep(RouteBuffer receiveBuffer) {
    if (kept != null) {
      return false;
    }
    kept = receiveBuffer;
    return true;
  }
}
