// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensor.DType;
import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelCallbacks;
import io.weft.tensorflow.ffm.KernelConstruction;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import java.util.List;

/// The kernels of one op type, as TensorFlow calls them.
///
/// @param reader what the op's attributes mean
/// @param types element types of the inputs
/// @param kernels where they are kept, shared by all op types
/// @param communicators what the attribute `communicator` means
record CollectiveKernels(
    OpAttributes.Reader reader,
    InputTypes types,
    HandleTable<CollectiveKernel<?>> kernels,
    CommunicatorTable communicators)
    implements KernelCallbacks {

  /// How the element types of a node's inputs are found.
  interface InputTypes {
    /// In the order of the inputs.
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
