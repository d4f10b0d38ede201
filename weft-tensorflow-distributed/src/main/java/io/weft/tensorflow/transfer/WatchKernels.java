// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.tensorflow.ffm.BorrowedTensors;
import io.weft.tensorflow.ffm.DoneCallback;
import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelCallbacks;
import io.weft.tensorflow.ffm.KernelConstruction;
import io.weft.tensorflow.ffm.KernelContext;
import io.weft.tensorflow.ffm.NativeTensor;
import io.weft.tensorflow.ffm.Status;
import io.weft.tensorflow.ffm.StatusCode;
import io.weft.tensorflow.partition.TransferOps;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.tensorflow.proto.DataType;

/// The kernels of `WeftWatch`, which outputs a tensor of one byte in memory owned by Weft. A
/// `_Send` node (see `FailureWatch`) consumes it, and its `_Recv` runs only after all other nodes.
/// TensorFlow therefore keeps the tensor until the step's run ends or is abandoned, and then calls
/// back that it has released the memory. A kernel is identified by the number of its part.
///
/// @param parts resolves the attribute `part`
record WatchKernels(HandleTable<GraphPart> parts) implements KernelCallbacks {

  private static final int TYPE = DataType.DT_UINT8.getNumber();

  /// Aligned as TensorFlow requires; otherwise TensorFlow would copy the tensor and release it.
  private static final MemorySegment BYTE = Arena.global().allocate(64, 64).asSlice(0, 1);

  @Override
  public long create(long construction) {
    try (Status status = new Status()) {
      KernelConstruction node = new KernelConstruction(construction, status);
      try {
        long number = node.integer(TransferOps.PART);
        GraphPart unused = parts.get(number);
        return number;
      } catch (RuntimeException e) {
        node.fail(StatusCode.FAILED_PRECONDITION, String.valueOf(e.getMessage()));
        return 0;
      }
    }
  }

  @Override
  public void compute(long kernel, long context, long done) {
    try (Status status = new Status()) {
      try {
        GraphPart part = parts.get(kernel);
        RunningStep step = part.step();
        long tensor =
            BorrowedTensors.lend(TYPE, MemorySegment.NULL, 0, BYTE, () -> part.letGo(step));
        try {
          KernelContext.output(context, 0, tensor, status);
        } finally {
          NativeTensor.delete(tensor);
        }
      } catch (RuntimeException e) {
        status.set(StatusCode.FAILED_PRECONDITION, String.valueOf(e.getMessage()));
        KernelContext.fail(context, status);
      }
    }
    DoneCallback.runInPlace(done);
  }

  @Override
  public void delete(long kernel) {
    // The session closes the kernel's part.
  }
}
