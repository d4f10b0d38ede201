// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.route;

import io.weft.rendezvous.Edge;
import io.weft.rendezvous.frame.TensorSignature;
import org.jspecify.annotations.Nullable;

/// What one rank knows of an edge from tensor to tensor: the table of [JIA17 §3.3], by name, source
/// and destination. Confined to the progress thread, but for the edge.
public final class Route {

  private static final int UNTOLD = -1;

  private final Edge edge;
  private final int number;

  /// What the source calls it by; `UNTOLD` before the first request.
  private int told = UNTOLD;

  /// Of the last tensor that came.
  private @Nullable TensorSignature expected;

  /// Memory for the next one.
  private @Nullable ReceiveBuffer kept;

  public Route(Edge edge, int number) {
    this.edge = edge;
    this.number = number;
  }

  public Edge edge() {
    return edge;
  }

  /// Of this rank's, from 0.
  public int number() {
    return number;
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

  public @Nullable TensorSignature expected() {
    return expected;
  }

  public void expect(TensorSignature signature) {
    expected = signature;
  }

  /// The kept memory, which is kept no more.
  @Nullable ReceiveBuffer takeKept() {
    ReceiveBuffer taken = kept;
    kept = null;
    return taken;
  }

  /// Whether there was nothing kept; then this is.
  public boolean keep(ReceiveBuffer receiveBuffer) {
    if (kept != null) {
      return false;
    }
    kept = receiveBuffer;
    return true;
  }
}
