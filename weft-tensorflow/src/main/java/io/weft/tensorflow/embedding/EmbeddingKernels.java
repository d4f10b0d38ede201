// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelCallbacks;
import io.weft.tensorflow.ffm.KernelConstruction;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;

/// The kernel callbacks of one op type, called by TensorFlow.
///
/// @param maker creates a kernel
/// @param kernels the table of kernels, shared by all op types
/// @param tables resolves the attribute `table`
record EmbeddingKernels(
    Maker maker, HandleTable<EmbeddingKernel> kernels, HandleTable<EmbeddingRows> tables)
    implements KernelCallbacks {

  /// A factory of a node's kernel on the rows of its table.
  interface Maker {
    EmbeddingKernel make(EmbeddingRows rows);
  }

  @Override
  public long create(long construction) {
    try (Status status = new Status()) {
      KernelConstruction node = new KernelConstruction(construction, status);
      try {
        return kernels.add(maker.make(tables.get(node.integer(EmbeddingLibrary.TABLE))));
      } catch (RuntimeException e) {
        node.fail(
            StatusCode.FAILED_PRECONDITION,
            e.getMessage()
                + "; a graph with embeddings runs only where it was built, and before its"
                + " embeddings are closed");
        return 0;
      }
    }
  }

  /// Hot path.
  @Override
  public void compute(long kernel, long context, long done) {
    kernels.get(kernel).start(context, done);
  }

  @Override
  public void delete(long kernel) {
    if (kernel != 0) {
      kernels.remove(kernel).close();
    }
  }
}
