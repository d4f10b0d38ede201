// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelCallbacks;
import io.weft.tensorflow.ffm.KernelConstruction;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;

/// The kernel callbacks of one of the two ops, called by TensorFlow.
///
/// @param maker creates a kernel of the op
/// @param kernels the table of kernels of both ops
/// @param parts resolves the attribute `part`
record TransferKernels(
    TransferKernel.Maker maker, HandleTable<TransferKernel> kernels, HandleTable<GraphPart> parts)
    implements KernelCallbacks {

  @Override
  public long create(long construction) {
    try (Status status = new Status()) {
      KernelConstruction node = new KernelConstruction(construction, status);
      try {
        return kernels.add(maker.make(TransferEnd.read(node, parts)));
      } catch (RuntimeException e) {
        node.fail(
            StatusCode.FAILED_PRECONDITION,
            e.getMessage()
                + "; sends and receives run only in the part of a graph that a"
                + " WeftServer holds, by WeftSession.run");
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
