// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.cluster.Task;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.TensorShapeProto;

/// One tensor that is sent from one task to another in every step that needs it, once for all its
/// users there.
///
/// @param number position among all transfers of the partition, from 0
/// @param source the task that produces it
/// @param destination the task that uses it
/// @param tensor the tensor, `node:0`; for control edges `^node`, with an empty int32 tensor
/// @param type its element type, never a reference
/// @param shape as far as known
/// @param level its earliest completion: the longest path to it, counted in computing ops and in
///   transfers
/// @param nodes the prefix of the names of its nodes
public record Transfer(
    int number,
    Task source,
    Task destination,
    String tensor,
    DataType type,
    TensorShapeProto shape,
    int level,
    String nodes) {

  /// Returns the name of the `WeftSend`, in the source's part.
  public String send() {
    return nodes + "/send";
  }

  /// Returns the name of the `WeftRecv`, in the destination's part.
  public String receive() {
    return nodes + "/receive";
  }

  /// Returns its name between the two tasks, which is unique and equal on both.
  public String edge() {
    return number + ":" + tensor;
  }
}
