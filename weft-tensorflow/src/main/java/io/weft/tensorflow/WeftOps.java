// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.Communicator;
import io.weft.tensor.ReduceOp;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.OperationBuilder;
import org.tensorflow.Output;
import org.tensorflow.op.Scope;
import org.tensorflow.types.family.TType;

/// Adds Weft's ops to a graph. Every rank adds the same ops, with the same names; they may run in
/// any order. Not thread-safe, as a graph's scope is not.
///
/// An op's tensor name, by which ranks match it, is its node's name, unique in the graph; behind
/// the first graph with ops on a communicator, the second one's names begin with `graph-1/`, the
/// third one's with `graph-2/`, so that all ranks must begin their graphs in the same order. Graphs
/// of several threads have no such order: give each a communicator of its own; else the second one
/// is refused, by `IllegalStateException` here and `Aborted` on all ranks. Let no two runs of a
/// graph overlap.
///
/// When an op fails (a lost peer, ranks that disagree, a second run), `Session.run` throws with the
/// communicator's message. It also aborts the communicator, because TensorFlow gives up the rest of
/// the step and ranks would no longer be in step.
public final class WeftOps {

  private final Scope scope;
  private final int communicator;

  /// Ops of `graph` on `communicator`, which must stay reachable while sessions of the graph run.
  /// Throws `CommException.Setup` where TensorFlow does not load.
  public WeftOps(Graph graph, Communicator communicator) {
    this(graph.baseScope(), communicator);
  }

  /// The same, named and placed by `scope`.
  public WeftOps(Scope scope, Communicator communicator) {
    this(scope, OpLibrary.load().numberOf(communicator));
  }

  WeftOps(Scope scope, int communicator) {
    this.scope = scope;
    this.communicator = communicator;
  }

  /// Reduces `input` over all ranks. Shape and element type must be the same on all ranks. Has a
  /// gradient for SUM and AVERAGE: of the sum of all ranks' losses. Works in place where nothing
  /// else uses `input`.
  public <T extends TType> Operand<T> allreduce(Operand<T> input, String name, ReduceOp op) {
    String node = nodeName(name);
    return build(builder(OpLibrary.ALLREDUCE, node).setAttr("op", op.name()), input, node);
  }

  /// `input` of rank `root`, on all ranks. Shape and element type must be the same on all ranks.
  public <T extends TType> Operand<T> broadcast(Operand<T> input, String name, int root) {
    String node = nodeName(name);
    return build(builder(OpLibrary.BROADCAST, node).setAttr("root", root), input, node);
  }

  /// Not `scope.opBuilder`, which would make the name unique once more.
  private OperationBuilder builder(String type, String node) {
    return scope.env().opBuilder(type, node, scope);
  }

  private String nodeName(String name) {
    if (name.indexOf('/') < 0 || !(scope.env() instanceof Graph graph)) {
      return scope.makeOpName(name);
    }
    String unique = name;
    for (int i = 1; graph.operation(unique) != null; i++) {
      unique = name + "_" + i;
    }
    return unique;
  }

  private <T extends TType> Operand<T> build(
      OperationBuilder builder, Operand<T> input, String tensorName) {
    Output<T> value = input.asOutput();
    DataTypes.of(value.dataType());
    return builder
        .addInput(value)
        .setAttr("tensor_name", OpLibrary.load().prefix(scope.env(), communicator) + tensorName)
        .setAttr("communicator", communicator)
        .build()
        .output(0);
  }
}
