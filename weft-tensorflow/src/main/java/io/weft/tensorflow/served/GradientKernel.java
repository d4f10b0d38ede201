// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.served;

import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensorflow.AsyncKernel;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.NativeTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/// The kernel of a `WeftServedGradient`, which sends a gradient out of TensorFlow's memory as soon
/// as it is computed. The run ends at once; the push continues while the step computes.
final class GradientKernel extends AsyncKernel {

  private final ServedTensor tensor;
  private final MemorySegment pointer = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);

  GradientKernel(ServedTensor tensor) {
    super(List.of(DType.FLOAT32));
    this.tensor = tensor;
  }

  @Override
  protected void run() throws InterruptedException {
    // A separate reference, because the push needs the gradient longer than the run.
    long gradient = KernelContext.input(context(), 0, pointer, status());
    Handle<Void> pushed;
    try {
      pushed = tensor.push(NativeTensor.data(gradient));
    } catch (InterruptedException | RuntimeException | Error refused) {
      NativeTensor.delete(gradient);
      throw refused;
    }
    pushed.whenDone((nothing, failure) -> NativeTensor.delete(gradient));
    tensor.pushed();
    finish(null);
  }

  @Override
  protected void requireSound() {
    tensor.requireSound();
  }

  @Override
  protected String words() {
    return "gradient of " + tensor;
  }
}
