// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelCallbacks;
import io.weft.tensorflow.ffm.KernelConstruction;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import org.tensorflow.proto.DataType;

/// The kernels of one op type, as TensorFlow calls them.
///
/// @param reader what the op's attributes mean
/// @param kernels where they are kept, shared by all op types
/// @param communicators what the attribute `communicator` means
record CollectiveKernels(
    CollectiveOp.NodeReader reader,
    HandleTable<CollectiveKernel> kernels,
    CommunicatorTable communicators)
    implements KernelCallbacks {

  @Override
  public long create(long construction) {
    try (Status status = new Status()) {
      KernelConstruction node = new KernelConstruction(construction, status);
      try {
        DType dtype = DataTypes.of(DataType.forNumber(node.dataType()));
        return kernels.add(
            new CollectiveKernel(
                reader.read(node),
                dtype,
                communicators,
                node.integer("communicator"),
                CollectiveOptions.named(node.string("tensor_name"))));
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
