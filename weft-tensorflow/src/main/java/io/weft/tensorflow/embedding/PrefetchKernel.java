// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.tensor.DType;
import java.util.List;

/// The kernel of a `WeftPrefetch`, which requests rows and does not wait for them.
final class PrefetchKernel extends EmbeddingKernel {

  PrefetchKernel(EmbeddingRows rows) {
    super(rows, List.of(DType.INT64));
  }

  @Override
  protected void run() throws InterruptedException {
    rows().prefetch(numbers(tensors().input(0)));
    finish(null);
  }

  @Override
  protected String words() {
    return "prefetch from " + rows();
  }
}
