// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.rendezvous.Edge;
import io.weft.tensor.DType;
import io.weft.tensorflow.DataTypes;
import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelConstruction;
import io.weft.tensorflow.partition.TransferOps;
import org.tensorflow.proto.DataType;

/// What the attributes of a `WeftSend` or `WeftRecv` say.
///
/// @param part to which the node belongs
/// @param edge where both ends meet
/// @param dtype of the tensor
/// @param tensor its name in the whole graph
/// @param source the task that sends
/// @param destination the task that receives
record TransferEnd(
    Part part, Edge edge, DType dtype, String tensor, String source, String destination) {

  /// Throws `IllegalStateException` if the node is in no part of this process.
  static TransferEnd read(KernelConstruction node, HandleTable<Part> parts) {
    Part part = parts.get(node.integer(TransferOps.PART));
    String source = node.string(TransferOps.SOURCE);
    String destination = node.string(TransferOps.DESTINATION);
    return new TransferEnd(
        part,
        part.edge(source, destination, node.string(TransferOps.EDGE)),
        DataTypes.of(DataType.forNumber(node.dataType())),
        node.string(TransferOps.TENSOR_NAME),
        source,
        destination);
  }

  /// TensorFlow's number of the type.
  int dataType() {
    return DataTypes.of(dtype).getNumber();
  }

  /// For messages.
  @Override
  public String toString() {
    return "tensor '" + tensor + "' from " + source + " to " + destination;
  }
}
