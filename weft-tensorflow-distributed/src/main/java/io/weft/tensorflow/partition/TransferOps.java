// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

/// The ops and attributes of transfers in the parts of a graph. `WeftSend` has `N` inputs and no
/// output, `WeftRecv` has `N` outputs and no input. Both have all the attributes except `PART`. In
/// the output of a `Partitioner`, `N` is 1; the runtime of a part may combine several transfers in
/// one op.
public final class TransferOps {

  /// The op type of the sending end.
  public static final String SEND = "WeftSend";

  /// The op type of the receiving end.
  public static final String RECEIVE = "WeftRecv";

  /// The op type that reports the end of a part's run; it has only `TYPE` and `PART`.
  public static final String WATCH = "WeftWatch";

  /// The element type; attribute of type `type`.
  public static final String TYPE = "T";

  /// The number of transfers of the node; an int.
  public static final String COUNT = "N";

  /// `Transfer.tensor` of each, for messages; strings.
  public static final String TENSOR_NAMES = "tensor_names";

  /// `Transfer.edge` of each, by which the two ends are matched; strings.
  public static final String EDGES = "edges";

  /// The sending task, as `/job:ps/task:0`; a string.
  public static final String SOURCE = "source";

  /// The receiving task; a string.
  public static final String DESTINATION = "destination";

  /// `ReceiveGroup.number`; an int.
  public static final String GROUP = "group";

  /// The urgency of each transfer: the longest path of what depends on it, across all parts,
  /// counted in computing ops and in transfers; ints. An attribute of nodes, not of the op types.
  public static final String URGENCIES = "_urgency";

  /// The part of this process to which the node belongs, set when it is imported; an int.
  public static final String PART = "part";

  private TransferOps() {}
}
