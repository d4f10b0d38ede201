// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.comm.CommException;
import io.weft.kv.key.KeyList;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The kernel of a `WeftLookup`. It takes prefetched rows, or pulls rows into the output, without
/// blocking a thread.
final class LookupKernel extends EmbeddingKernel
    implements BiConsumer<@Nullable Void, @Nullable CommException> {

  // State of the current run.
  private EmbeddingRows.@Nullable Prefetched prefetched;
  private Shape shape = Shape.of(0);

  LookupKernel(EmbeddingRows rows) {
    super(rows, List.of(DType.INT64));
  }

  @Override
  protected void run() throws InterruptedException {
    TensorView ids = tensors().input(0);
    shape = rows().shape(ids.shape());
    KeyList keys = rows().keys(numbers(ids));
    EmbeddingRows.Prefetched fetched = rows().take(keys);
    prefetched = fetched;
    if (fetched == null) {
      TensorView output = tensors().output(0, DType.FLOAT32, shape);
      rows().pull(keys, output.data()).whenDone(this);
    } else {
      fetched.handle().whenDone(this);
    }
  }

  /// Ends the run when the rows have arrived, on the progress thread or immediately.
  @Override
  public void accept(@Nullable Void nothing, @Nullable CommException failure) {
    EmbeddingRows.Prefetched fetched = prefetched;
    prefetched = null;
    Throwable wrong = failure;
    if (fetched != null) {
      try (var memory = fetched.memory()) {
        if (failure == null) {
          tensors().output(0, DType.FLOAT32, shape).data().copyFrom(memory.view().data());
        }
      } catch (RuntimeException | Error e) {
        wrong = e;
      }
    }
    finish(wrong);
  }

  @Override
  protected String words() {
    return "lookup in " + rows();
  }
}
