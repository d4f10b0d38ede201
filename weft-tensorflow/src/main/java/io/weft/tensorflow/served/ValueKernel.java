// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.served;

import io.weft.comm.CommException;
import io.weft.tensorflow.AsyncKernel;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The kernel of a `WeftServedValue`. Its run ends when the value that was requested last has
/// arrived, and lends the value's memory to TensorFlow without a copy.
final class ValueKernel extends AsyncKernel
    implements BiConsumer<@Nullable Void, @Nullable CommException> {

  private final ServedTensor tensor;

  // State of the current run.
  private @Nullable PulledValue value;
  private boolean waits;

  ValueKernel(ServedTensor tensor) {
    super(List.of());
    this.tensor = tensor;
  }

  @Override
  protected void run() {
    PulledValue now = tensor.value();
    value = now;
    waits = !now.handle().isDone();
    if (waits) {
      tensor.waits().begin();
    }
    now.handle().whenDone(this);
  }

  /// Ends the run when the value has arrived, on the progress thread or immediately.
  @Override
  public void accept(@Nullable Void nothing, @Nullable CommException failure) {
    PulledValue arrived = value;
    value = null;
    if (waits) {
      tensor.waits().end();
    }
    Throwable wrong = failure;
    if (failure == null && arrived != null) {
      try {
        tensors().give(0, arrived.share());
      } catch (RuntimeException | Error e) {
        wrong = e;
      }
    }
    finish(wrong);
  }

  @Override
  protected void requireSound() {
    tensor.requireSound();
  }

  @Override
  protected String words() {
    return "value of " + tensor;
  }
}
