// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.WireHook;
import io.weft.dataparallel.compress.Compression;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.ffm.KernelConstruction;
import java.util.List;
import java.util.stream.IntStream;

/// The attributes of Weft's ops, and the collectives that kernels create from them.
final class OpAttributes {

  /// The name by which ranks match the op; tensors of a group add their index.
  static final String TENSOR_NAME = "tensor_name";

  /// The number of a communicator.
  static final String COMMUNICATOR = "communicator";

  /// A `ReduceOp`.
  static final String OP = "op";

  /// The root rank of a broadcast.
  static final String ROOT = "root";

  /// Factors before and after a reduction, written as a Java `double`, because a float would lose
  /// digits.
  static final String PRESCALE = "prescale";

  static final String POSTSCALE = "postscale";

  /// The priority of gradients; the highest is sent first.
  static final String PRIORITY = "priority";

  /// The divisor of gradients before they are added, written as a Java `double`.
  static final String PREDIVIDE = "predivide";

  /// The wire encoding of gradients, in the format of `Compression.parse`.
  static final String COMPRESSION = "compression";

  /// 1 if no other computation of the step remains when the op begins, so the compute thread may
  /// drive the transfer itself; otherwise 0.
  static final String AWAITED = "awaited";

  private OpAttributes() {}

  /// A reader of a collective from the attributes of its node.
  interface Reader {
    /// Throws `IllegalStateException` if an attribute is missing.
    ///
    /// @param inputs the number of inputs of the node
    CollectiveOp<?> read(KernelConstruction node, int inputs);
  }

  static CollectiveOp<?> allreduce(KernelConstruction node, int inputs) {
    ReduceOp op = op(node);
    double before = Double.parseDouble(node.string(PRESCALE));
    double after = Double.parseDouble(node.string(POSTSCALE));
    WireHook hook = before == 1 && after == 1 ? WireHook.NONE : WireHook.scaling(before, after);
    var travel =
        new GradientTravel(
            op,
            Double.parseDouble(node.string(PREDIVIDE)),
            Compression.parse(node.string(COMPRESSION)),
            Math.toIntExact(node.integer(PRIORITY)));
    return inputs == 1
        ? new CollectiveOp.Allreduce(op, hook, travel, names(node, 1).getFirst())
        : new CollectiveOp.GroupedAllreduce(
            op, hook, travel, names(node, inputs), node.integer(AWAITED) == 1);
  }

  static CollectiveOp<?> broadcast(KernelConstruction node, int inputs) {
    return new CollectiveOp.Broadcast(Math.toIntExact(node.integer(ROOT)), names(node, inputs));
  }

  static CollectiveOp<?> allgather(KernelConstruction node, int inputs) {
    return new CollectiveOp.Allgather(names(node, inputs));
  }

  static CollectiveOp<?> reduceScatter(KernelConstruction node, int inputs) {
    return new CollectiveOp.ReduceScatter(op(node), names(node, inputs));
  }

  static CollectiveOp<?> alltoall(KernelConstruction node, int inputs) {
    return new CollectiveOp.Alltoall(names(node, 1).getFirst());
  }

  private static ReduceOp op(KernelConstruction node) {
    return ReduceOp.valueOf(node.string(OP));
  }

  private static List<CollectiveOptions> names(KernelConstruction node, int inputs) {
    String name = node.string(TENSOR_NAME);
    return inputs == 1
        ? List.of(CollectiveOptions.named(name))
        : IntStream.range(0, inputs)
            .mapToObj(i -> CollectiveOptions.named(name + "/" + i))
            .toList();
  }
}
