// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.route;

import io.weft.rendezvous.frame.TensorSpec;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// A tensor from another rank that a consumer holds.
public final class ReceivedTensor implements TensorLease {

  final Route route;
  final RouteBuffer receiveBuffer;

  /// The next tensor in the queue of returned ones.
  @Nullable ReceivedTensor next;

  private final ReceiveBuffers receiveBuffers;
  private final TensorView view;
  private final AtomicBoolean closed = new AtomicBoolean();

  public ReceivedTensor(
      ReceiveBuffers receiveBuffers, Route route, RouteBuffer receiveBuffer, TensorSpec signature) {
    this.receiveBuffers = receiveBuffers;
    this.route = route;
    this.receiveBuffer = receiveBuffer;
    this.view = new TensorView(signature.dtype(), signature.shape(), receiveBuffer.memory());
  }

  @Override
  public TensorView view() {
    return view;
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      receiveBuffers.giveBack(this);
    }
  }

  @Override
  public String toString() {
    return view.signature();
  }
}
