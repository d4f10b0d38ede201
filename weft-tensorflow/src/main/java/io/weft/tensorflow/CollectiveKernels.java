// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensor.DType;
import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelCallbacks;
import io.weft.tensorflow.ffm.KernelConstruction;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import java.util.List;

/// The kernel callbacks of one op type, called by TensorFlow.
///
/// @param reader reads the op's attributes
/// @param types reads the element types of the inputs
/// @param kernels the table of kernels, shared by all op types
/// @param communicators resolves the attribute `communicator`
record CollectiveKernels(
    OpAttributes.Reader reader,
    InputTypes types,
    HandleTable<CollectiveKernel<?>> kernels,
    CommunicatorTable communicators)
    implements KernelCallbacks {

  /// A reader of the element types of a node's inputs, in order.
  interface InputTypes {
    List<DType> of(KernelConstruction node);
  }

  @Override
  public long create(long construction) {
    try (Status status = new Status()) {
      KernelConstruction node = new KernelConstruction(construction, status);
      try {
        List<DType> inputs = types.of(node);
        return kernels.add(
            new CollectiveKernel<>(
                reader.read(node, inputs.size()),
                inputs,
                communicators,
                node.integer(OpAttributes.COMMUNICATOR),
                node.string(OpAttributes.TENSOR_NAME)));
      } catch (RuntimeException e) {
        node.fail(StatusCode.FAILED_PRECONDITION, String.valueOf(e.getMessage()));
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
