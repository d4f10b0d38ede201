// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.route;

import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// A tensor of this rank that a consumer on this rank holds. It uses the producer's memory.
public final class LocalLease implements TensorLease {

  private final TensorView view;
  private final Runnable release;
  private final AtomicInteger count;
  private final AtomicBoolean closed = new AtomicBoolean();

  /// @param count the number of open leases
  public LocalLease(TensorView view, Runnable release, AtomicInteger count) {
    this.view = view;
    this.release = release;
    this.count = count;
    count.getAndIncrement();
  }

  @Override
  public TensorView view() {
    return view;
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      count.getAndDecrement();
      release.run();
    }
  }

  @Override
  public String toString() {
    return view.signature();
  }
}
