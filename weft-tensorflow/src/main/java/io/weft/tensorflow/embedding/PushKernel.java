// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.comm.Handle;
import io.weft.kv.key.KeyList;
import io.weft.tensor.DType;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.NativeTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/// The kernel of a `WeftPush`, which sends gradients without a copy. The run ends at once and the
/// push continues during the next step. If the maximum number of pushes is under way, the run ends
/// with its push instead.
final class PushKernel extends EmbeddingKernel {

  private final MemorySegment pointer = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);

  PushKernel(EmbeddingRows rows) {
    super(rows, List.of(DType.INT64, DType.FLOAT32));
  }

  @Override
  protected void run() throws InterruptedException {
    KeyList keys = rows().keys(numbers(tensors().input(0)));
    // A separate reference, because the push needs the values longer than the run.
    long values = KernelContext.input(context(), 1, pointer, status());
    Handle<Void> pushed;
    try {
      pushed = rows().push(keys, NativeTensor.data(values));
    } catch (InterruptedException | RuntimeException | Error refused) {
      NativeTensor.delete(values);
      throw refused;
    }
    boolean overlaps = rows().begunPush(pushed);
    pushed.whenDone(
        (nothing, failure) -> {
          NativeTensor.delete(values);
          rows().endedPush(failure);
          if (!overlaps) {
            finish(failure);
          }
        });
    if (overlaps) {
      finish(null);
    }
  }

  @Override
  protected String words() {
    return "push to " + rows();
  }
}
