// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.served;

import io.weft.comm.Handle;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/// A value of a tensor that has been requested, and its memory. The memory is free again when the
/// tensor has a later value and TensorFlow no longer uses this one. Any thread.
final class PulledValue {

  private final Handle<Void> handle;
  private final TensorLease memory;
  private final Consumer<TensorLease> free;
  private final AtomicInteger users = new AtomicInteger(1);

  /// @param handle completes when the value has arrived
  /// @param memory of the value
  /// @param free takes the memory when nothing uses it
  PulledValue(Handle<Void> handle, TensorLease memory, Consumer<TensorLease> free) {
    this.handle = handle;
    this.memory = memory;
    this.free = free;
  }

  Handle<Void> handle() {
    return handle;
  }

  /// Returns the value, which has arrived; borrowed until the tensor has a later value.
  TensorView view() {
    return memory.view();
  }

  /// Returns a lease of the value for one more user, while the tensor still has this value.
  TensorLease share() {
    users.incrementAndGet();
    return new Share(this, new AtomicBoolean());
  }

  /// Ends the tensor's own use, once, when no transfer writes into the memory.
  void replaced() {
    handle.whenDone((nothing, failure) -> release());
  }

  private void release() {
    if (users.decrementAndGet() == 0) {
      free.accept(memory);
    }
  }

  private record Share(PulledValue of, AtomicBoolean closed) implements TensorLease {

    @Override
    public TensorView view() {
      return of.view();
    }

    @Override
    public void close() {
      if (closed.compareAndSet(false, true)) {
        of.release();
      }
    }
  }
}
