// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.rendezvous.Edge;
import io.weft.tensor.DType;
import io.weft.tensorflow.DataTypes;
import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelConstruction;
import io.weft.tensorflow.partition.TransferOps;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.proto.DataType;

/// One transfer of a `WeftSend` or `WeftRecv`, from the node's attributes.
///
/// @param part the part of the node
/// @param edge the edge that matches both ends
/// @param dtype of the tensor
/// @param tensor its name in the whole graph
/// @param source the sending task
/// @param destination the receiving task
record TransferEnd(
    GraphPart part, Edge edge, DType dtype, String tensor, String source, String destination) {

  /// Returns one end for each input or output, in their order, and tells the rendezvous the urgency
  /// of each. Throws `IllegalStateException` if the node is in no part of this process,
  /// `IllegalArgumentException` if its lists differ in length.
  static List<TransferEnd> read(KernelConstruction node, HandleTable<GraphPart> parts) {
    GraphPart part = parts.get(node.integer(TransferOps.PART));
    String source = node.string(TransferOps.SOURCE);
    String destination = node.string(TransferOps.DESTINATION);
    DType dtype = DataTypes.of(DataType.forNumber(node.dataType()));
    List<String> edges = node.strings(TransferOps.EDGES);
    List<String> tensors = node.strings(TransferOps.TENSOR_NAMES);
    List<Long> urgencies = node.integers(TransferOps.URGENCIES);
    long count = node.integer(TransferOps.COUNT);
    if (edges.size() != count || tensors.size() != count || urgencies.size() != count) {
      throw new IllegalArgumentException(
          "%d edges, %d names of tensors and %d urgencies for %d transfers"
              .formatted(edges.size(), tensors.size(), urgencies.size(), count));
    }
    List<TransferEnd> ends = new ArrayList<>(edges.size());
    for (int i = 0; i < count; i++) {
      Edge edge = part.edge(source, destination, edges.get(i));
      part.rendezvous().prefer(edge, Math.toIntExact(urgencies.get(i)));
      ends.add(new TransferEnd(part, edge, dtype, tensors.get(i), source, destination));
    }
    return ends;
  }

  /// Returns TensorFlow's number of the type.
  int dataType() {
    return DataTypes.of(dtype).getNumber();
  }

  @Override
  public String toString() {
    return "tensor '" + tensor + "' from " + source + " to " + destination;
  }
}
