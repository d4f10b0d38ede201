// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import io.weft.dataparallel.CollectiveRequest.Allgather;
import io.weft.dataparallel.CollectiveRequest.Alltoall;
import io.weft.dataparallel.CollectiveRequest.Broadcast;
import io.weft.dataparallel.CollectiveRequest.ReduceScatter;
import io.weft.dataparallel.frame.Collective;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.dataparallel.fusion.Neutral;
import io.weft.dataparallel.negotiation.ReadyTensor;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.util.Collections;

/// The contribution of a joined rank to collectives other than allreduces. Pure.
final class JoinedRequest {

  private JoinedRequest() {}

  /// Returns a contribution that does not change the result: no rows, or neutral rows. Its output
  /// memory is discarded.
  static CollectiveRequest<?> of(ReadyTensor tensor, Communicator communicator) {
    TensorSignature signature = tensor.signature();
    if (signature.collective() == Collective.TUNE) {
      return TuneRequest.of(signature.shape());
    }
    TensorView memory = memory(signature, signature.shape());
    return switch (signature.collective()) {
      case ALLREDUCE, TUNE ->
          throw new IllegalStateException(signature.collective() + " has no such request");
      case ALLTOALL ->
          Alltoall.of(tensor.name(), memory, Collections.nCopies(communicator.size(), 0L));
      case ALLGATHER -> Allgather.of(tensor.name(), memory);
      case BROADCAST -> Broadcast.of(tensor.name(), memory, signature.root());
      case REDUCE_SCATTER -> {
        Neutral.fill(memory.data(), signature.dtype(), signature.op());
        TensorView output = memory(signature, rows(signature.shape(), communicator));
        yield ReduceScatter.of(tensor.name(), memory, output, signature.op());
      }
    };
  }

  /// Returns the shape of this rank's output of a reduceScatter of this input shape.
  static Shape rows(Shape input, Communicator communicator) {
    long rows = input.dims().getFirst();
    int size = communicator.size();
    return input.withFirst(rows / size + (communicator.rank() < rows % size ? 1 : 0));
  }

  private static TensorView memory(TensorSignature signature, Shape shape) {
    long bytes = TensorView.bytes(signature.dtype(), shape);
    return new TensorView(signature.dtype(), shape, Arena.ofAuto().allocate(bytes, 64));
  }
}
