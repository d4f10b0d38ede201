// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.Communicator;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.ScaleFactor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.OperationBuilder;
import org.tensorflow.Output;
import org.tensorflow.op.Scope;
import org.tensorflow.op.core.Constant;
import org.tensorflow.op.core.Size;
import org.tensorflow.op.core.Unique;
import org.tensorflow.op.dtypes.Cast;
import org.tensorflow.op.math.Div;
import org.tensorflow.op.math.Mul;
import org.tensorflow.op.math.UnsortedSegmentSum;
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;
import org.tensorflow.types.family.TType;

/// The builder of Weft's ops in a graph. Every rank adds the same ops with the same names; the ops
/// may run in any order. Not thread-safe, like a graph's scope.
///
/// Ranks match ops by tensor name, which is the name of the op's node and unique in the graph. If a
/// communicator has several graphs with ops, the second graph's tensor names begin with `graph-1/`,
/// the third's with `graph-2/`. All ranks must therefore begin their graphs in the same order.
/// Graphs built by several threads have no such order, so each needs its own communicator
/// (`Communicator.duplicate`). Otherwise the second graph is refused with `IllegalStateException`,
/// and the communicator is aborted on all ranks. Runs of a graph must not overlap. A group is one
/// op with several tensors of possibly different types. Its tensors are submitted together, and its
/// outputs are available when all are complete.
///
/// Every collective has a gradient, that of the sum of all ranks' losses. Reductions have one for
/// SUM and AVERAGE.
///
/// Methods throw `IllegalArgumentException` for an element type that Weft does not carry. When an
/// op fails (a lost peer, disagreeing ranks, overlapping runs), `Session.run` throws with the
/// communicator's message. The failure also aborts the communicator, because TensorFlow abandons
/// the rest of the step and ranks would then submit different ops. Only a failure of gradients that
/// use a `DataParallel` leaves the communicator usable: their step fails on all ranks, and the next
/// step can run.
public final class WeftOps {

  private final Scope scope;
  private final int communicator;

  /// Creates ops of `graph` on `communicator`, which must stay reachable while sessions of the
  /// graph run. Throws `CommException.Setup` if TensorFlow does not load.
  public WeftOps(Graph graph, Communicator communicator) {
    this(graph.baseScope(), communicator);
  }

  /// Creates ops that `scope` names and places, on `communicator`.
  public WeftOps(Scope scope, Communicator communicator) {
    this(scope, OpLibrary.load().numberOf(communicator));
  }

  WeftOps(Scope scope, int communicator) {
    this.scope = scope;
    this.communicator = communicator;
  }

  /// The outputs of an alltoall.
  ///
  /// @param output the received rows in rank order
  /// @param received the number of rows received from each rank
  public record Exchanged<T extends TType>(Operand<T> output, Operand<TInt64> received) {}

  /// Reduces `input` over all ranks. Shape and element type must be equal on all ranks. Works in
  /// place if no other op uses `input`.
  public <T extends TType> Operand<T> allreduce(Operand<T> input, String name, ReduceOp op) {
    return allreduce(input, name, op, Scale.NONE);
  }

  /// Reduces `input` over all ranks, with factors before and after the reduction.
  public <T extends TType> Operand<T> allreduce(
      Operand<T> input, String name, ReduceOp op, Scale scale) {
    return one(buildAllreduce(List.of(input), name, op, scale));
  }

  /// Reduces each of `inputs` over all ranks, as a group.
  public List<Operand<?>> groupedAllreduce(
      List<? extends Operand<?>> inputs, String name, ReduceOp op) {
    return groupedAllreduce(inputs, name, op, Scale.NONE);
  }

  /// Reduces each of `inputs` as a group, with factors before and after the reduction.
  public List<Operand<?>> groupedAllreduce(
      List<? extends Operand<?>> inputs, String name, ReduceOp op, Scale scale) {
    return all(buildAllreduce(inputs, name, op, scale));
  }

  /// Averages or adds gradients as a group, according to the options. Of the gradients that are
  /// ready on all ranks, the reducer sends those of the highest priority first.
  ///
  /// @param awaited true if these are all gradients that a step averages
  List<Operand<?>> gradients(
      List<? extends Operand<?>> gradients,
      String name,
      int priority,
      GradientOptions options,
      boolean awaited) {
    return all(
        build(
            OpLibrary.ALLREDUCE,
            gradients,
            nodeName(name),
            builder ->
                builder
                    .setAttr(OpAttributes.OP, options.op().name())
                    .setAttr(OpAttributes.PREDIVIDE, Double.toString(options.predivide()))
                    .setAttr(OpAttributes.COMPRESSION, options.compression().toString())
                    .setAttr(OpAttributes.PRIORITY, priority)
                    .setAttr(OpAttributes.AWAITED, awaited ? 1 : 0)));
  }

  /// Adds or averages slices over all ranks. Rows that occur several times in `input` are added
  /// first, so each is sent once. In the result a row occurs once for each rank that has it. Rows
  /// and their number may differ between ranks. Throws `IllegalArgumentException` for other
  /// reductions, because the rows that a rank does not have count as zero.
  public <T extends TType> IndexedSlices<T> allreduce(
      IndexedSlices<T> input, String name, ReduceOp op) {
    return groupedAllreduceSlices(List.of(input), name, op).getFirst();
  }

  /// Adds or averages several slices, as a group.
  public <T extends TType> List<IndexedSlices<T>> groupedAllreduceSlices(
      List<IndexedSlices<T>> inputs, String name, ReduceOp op) {
    if (op != ReduceOp.SUM && op != ReduceOp.AVERAGE) {
      throw new IllegalArgumentException(
          "'" + name + "': slices are reduced by SUM and AVERAGE, not " + op);
    }
    List<Operand<?>> parts = new ArrayList<>();
    for (IndexedSlices<T> input : inputs) {
      IndexedSlices<T> once = withoutDuplicates(input);
      parts.add(once.values());
      parts.add(once.indices());
    }
    Operation gathered = build(OpLibrary.ALLGATHER, parts, nodeName(name), Attribute.NONE);
    List<IndexedSlices<T>> reduced = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      Operand<T> values = gathered.output(2 * i);
      reduced.add(
          new IndexedSlices<>(
              op == ReduceOp.SUM ? values : mean(values), gathered.output(2 * i + 1)));
    }
    return reduced;
  }

  private <T extends TType> IndexedSlices<T> withoutDuplicates(IndexedSlices<T> slices) {
    Unique<TInt64, TInt32> unique =
        Unique.create(scope, slices.indices(), Constant.vectorOf(scope, new int[] {0}));
    return new IndexedSlices<>(
        UnsortedSegmentSum.create(
            scope, slices.values(), unique.idx(), Size.create(scope, unique.y())),
        unique.y());
  }

  /// Returns the `input` of rank `root` on all ranks. Shape and element type must be equal on all
  /// ranks. For variables, use `WeftVariables.broadcast`.
  public <T extends TType> Operand<T> broadcast(Operand<T> input, String name, int root) {
    return one(buildBroadcast(List.of(input), name, root));
  }

  /// Returns each of the `inputs` of rank `root` on all ranks, as a group.
  public List<Operand<?>> groupedBroadcast(
      List<? extends Operand<?>> inputs, String name, int root) {
    return all(buildBroadcast(inputs, name, root));
  }

  /// Concatenates `input` of all ranks in rank order along the first dimension, whose extent may
  /// differ between ranks.
  public <T extends TType> Operand<T> allgather(Operand<T> input, String name) {
    return one(build(OpLibrary.ALLGATHER, List.of(input), nodeName(name), Attribute.NONE));
  }

  /// Gathers each of `inputs` from all ranks, as a group.
  public List<Operand<?>> groupedAllgather(List<? extends Operand<?>> inputs, String name) {
    return all(build(OpLibrary.ALLGATHER, inputs, nodeName(name), Attribute.NONE));
  }

  /// Sends the first `splits[0]` rows of `input` to rank 0, the next `splits[1]` to rank 1, and so
  /// on. The splits must sum to the first extent.
  public <T extends TType> Exchanged<T> alltoall(
      Operand<T> input, Operand<TInt64> splits, String name) {
    String node = nodeName(name);
    Output<T> value = input.asOutput();
    DataTypes.of(value.dataType());
    Operation op =
        named(scope.env().opBuilder(OpLibrary.ALLTOALL, node, scope), node)
            .addInput(value)
            .addInput(splits.asOutput())
            .build();
    return new Exchanged<>(op.output(0), op.output(1));
  }

  /// Sends an equal number of rows to each rank. The number of ranks must divide the first extent.
  public <T extends TType> Exchanged<T> alltoall(Operand<T> input, String name) {
    return alltoall(input, Constant.vectorOf(scope, new long[0]), name);
  }

  /// Reduces `input` over all ranks and returns each rank's rows: of first extent N, rank r
  /// receives N/n rows, plus one if r < N mod n.
  public <T extends TType> Operand<T> reduceScatter(Operand<T> input, String name, ReduceOp op) {
    return reduceScatter(input, name, op, Scale.NONE);
  }

  /// Reduces and scatters `input`, with factors before and after the reduction.
  public <T extends TType> Operand<T> reduceScatter(
      Operand<T> input, String name, ReduceOp op, Scale scale) {
    Operation reduced = buildReduceScatter(List.of(times(input, scale.before())), name, op);
    return times(reduced.<T>output(0), scale.after());
  }

  /// Reduces and scatters each of `inputs`, as a group.
  public List<Operand<?>> groupedReduceScatter(
      List<? extends Operand<?>> inputs, String name, ReduceOp op) {
    return groupedReduceScatter(inputs, name, op, Scale.NONE);
  }

  /// Reduces and scatters each of `inputs` as a group, with factors before and after the reduction.
  public List<Operand<?>> groupedReduceScatter(
      List<? extends Operand<?>> inputs, String name, ReduceOp op, Scale scale) {
    List<Operand<?>> scaled = new ArrayList<>();
    inputs.forEach(input -> scaled.add(times(input, scale.before())));
    List<Operand<?>> results = new ArrayList<>();
    all(buildReduceScatter(scaled, name, op))
        .forEach(result -> results.add(times(result, scale.after())));
    return results;
  }

  /// Combines gradients according to the options and returns this rank's rows.
  <T extends TType> Operand<T> gradientShare(
      Operand<T> gradients, String name, GradientOptions options) {
    double divisor = options.predivide();
    Scale scale = divisor == 1 ? Scale.NONE : new Scale(1 / divisor, divisor);
    return reduceScatter(gradients, name, options.op(), scale);
  }

  /// Returns this rank's number in the graph's communicator, which `OpLibrary.rebind` may change.
  public Operand<TInt32> rank() {
    return place(OpLibrary.RANK, "rank");
  }

  /// Returns the number of ranks of the graph's communicator.
  public Operand<TInt32> size() {
    return place(OpLibrary.SIZE, "size");
  }

  /// Returns `sum` divided by the number of ranks.
  <T extends TType> Operand<T> mean(Operand<T> sum) {
    return Div.create(scope, sum, Cast.create(scope, size(), sum.type()));
  }

  private <T extends TType> Operand<T> times(Operand<T> value, double factor) {
    if (factor == 1) {
      return value;
    }
    requireFloating(value, factor);
    requireFactors(value, new Scale(factor, 1));
    Operand<TFloat64> constant = Constant.scalarOf(scope, factor);
    return Mul.create(scope, value, Cast.create(scope, constant, value.type()));
  }

  /// Checks that the factors are normal numbers of the type in which they are multiplied.
  private static void requireFactors(Operand<?> value, Scale scale) {
    Output<?> output = value.asOutput();
    DType type = DataTypes.of(output.dataType());
    ScaleFactor.require("'" + output.op().name() + "'", type, scale.before());
    ScaleFactor.require("'" + output.op().name() + "'", type, scale.after());
  }

  private static void requireFloating(Operand<?> value, double factor) {
    DType type = DataTypes.of(value.asOutput().dataType());
    if (!type.floating()) {
      throw new IllegalArgumentException(
          "'"
              + value.asOutput().op().name()
              + "' is of type "
              + type
              + ", which is not multiplied by "
              + factor
              + "; cast it to a floating type");
    }
  }

  private Operation buildAllreduce(
      List<? extends Operand<?>> inputs, String name, ReduceOp op, Scale scale) {
    if (!scale.equals(Scale.NONE)) {
      inputs.forEach(input -> requireFloating(input, scale.before() * scale.after()));
      inputs.forEach(input -> requireFactors(input, scale));
    }
    return build(
        OpLibrary.ALLREDUCE,
        inputs,
        nodeName(name),
        builder ->
            builder
                .setAttr(OpAttributes.OP, op.name())
                .setAttr(OpAttributes.PRESCALE, Double.toString(scale.before()))
                .setAttr(OpAttributes.POSTSCALE, Double.toString(scale.after())));
  }

  private Operation buildBroadcast(List<? extends Operand<?>> inputs, String name, int root) {
    return build(
        OpLibrary.BROADCAST,
        inputs,
        nodeName(name),
        builder -> builder.setAttr(OpAttributes.ROOT, root));
  }

  private Operation buildReduceScatter(
      List<? extends Operand<?>> inputs, String name, ReduceOp op) {
    return build(
        OpLibrary.REDUCE_SCATTER,
        inputs,
        nodeName(name),
        builder -> builder.setAttr(OpAttributes.OP, op.name()));
  }

  private Operand<TInt32> place(String type, String name) {
    String node = nodeName(name);
    return named(scope.env().opBuilder(type, node, scope), node).build().output(0);
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

  /// An op's additional attributes.
  private interface Attribute {
    Attribute NONE = builder -> builder;

    OperationBuilder set(OperationBuilder builder);
  }

  /// Does not use `scope.opBuilder`, because that would make the name unique again.
  private Operation build(
      String type, List<? extends Operand<?>> inputs, String node, Attribute attribute) {
    if (inputs.isEmpty()) {
      throw new IllegalArgumentException("group '" + node + "' has no tensors");
    }
    Output<?>[] values = inputs.stream().map(Operand::asOutput).toArray(Output<?>[]::new);
    for (Output<?> value : values) {
      DataTypes.of(value.dataType());
    }
    OperationBuilder builder = scope.env().opBuilder(type, node, scope).addInputList(values);
    return attribute.set(named(builder, node)).build();
  }

  private OperationBuilder named(OperationBuilder builder, String node) {
    return builder
        .setAttr(
            OpAttributes.TENSOR_NAME, OpLibrary.load().prefix(scope.env(), communicator) + node)
        .setAttr(OpAttributes.COMMUNICATOR, communicator);
  }

  private static <T extends TType> Operand<T> one(Operation op) {
    return op.output(0);
  }

  private static List<Operand<?>> all(Operation op) {
    List<Operand<?>> outputs = new ArrayList<>();
    outputs.addAll(Arrays.asList(op.outputList(0, op.numOutputs())));
    return outputs;
  }
}
