// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

/// Ops and attributes that stand for transfers in the parts of a graph. `WeftSend` has `N` inputs
/// and no output, `WeftRecv` `N` outputs and no input; both have all the attributes, but for
/// `PART`. In what a `Partitioner` makes `N` is 1; who runs a part may let one op do several
/// transfers.
public final class TransferOps {

  /// Op type of the sending end.
  public static final String SEND = "WeftSend";

  /// Op type of the receiving end.
  public static final String RECEIVE = "WeftRecv";

  /// Op type of what tells that a part's run is over; it has `TYPE` and `PART` only.
  public static final String WATCH = "WeftWatch";

  /// The element type; attribute of type `type`.
  public static final String TYPE = "T";

  /// How many transfers the node does; an int.
  public static final String COUNT = "N";

  /// `Transfer.tensor` of each, for messages; strings.
  public static final String TENSOR_NAMES = "tensor_names";

  /// `Transfer.edge` of each, by which the two ends meet; strings.
  public static final String EDGES = "edges";

  /// The task that sends, as `/job:ps/task:0`; a string.
  public static final String SOURCE = "source";

  /// The task that receives; a string.
  public static final String DESTINATION = "destination";

  /// `ReceiveGroup.number`; an int.
  public static final String GROUP = "group";

  /// Which part of this process the node belongs to, given when it is imported; an int.
  public static final String PART = "part";

  private TransferOps() {}
}
