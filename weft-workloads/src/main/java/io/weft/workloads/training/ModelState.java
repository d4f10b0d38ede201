// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.DistributedOptimizer.Share;
import io.weft.tensorflow.TensorViews;
import io.weft.workloads.checkpoint.SavedTensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.proto.DataType;
import org.tensorflow.types.TFloat32;

/// All that a graph remembers from step to step, weights and optimizer state, copied to and from
/// native memory, where it can be averaged, broadcast, saved. Of what ranks have shares, a rank has
/// its share in the session, and all of it in memory. One thread. Owns the memory.
final class ModelState implements AutoCloseable {

  private final Arena arena = Arena.ofShared();
  private final List<Slot> slots = new ArrayList<>();
  private final List<SavedTensor> saved = new ArrayList<>();
  private final RankExchange exchange;

  /// One variable, its copy, and the ops that bring the copy back.
  ///
  /// @param name of the variable in the graph
  /// @param copy FLOAT32, of the variable's shape
  /// @param whole of all ranks, where each has its share; else the copy
  /// @param isShare whether each rank has its share
  record Slot(
      String name,
      TensorView copy,
      TensorView whole,
      boolean isShare,
      Output<TFloat32> variable,
      Placeholder<TFloat32> value,
      Op assign) {}

  /// Of all variables that are in the graph now, in the order in which they were added.
  ///
  /// @param shares of this rank; empty where all ranks have all
  ModelState(Graph graph, List<Share> shares, RankExchange exchange) {
    this.exchange = exchange;
    Ops tf = Ops.create(graph);
    Map<String, Output<TFloat32>> variables = new LinkedHashMap<>();
    graph
        .operations()
        .forEachRemaining(
            op -> {
              if (op.type().equals("VariableV2")) {
                variables.put(op.name(), output(op));
              }
            });
    shares.forEach(share -> variables.remove(share.variable())); // made anew in each step
    Map<String, TensorView> parts = new LinkedHashMap<>();
    for (Output<TFloat32> variable : variables.values()) {
      String name = variable.op().name();
      Optional<Share> share = shares.stream().filter(s -> s.slot(name).isPresent()).findFirst();
      Slot slot = slot(tf, variable, share);
      slots.add(slot);
      share.ifPresentOrElse(
          of -> cut(of, of.slot(name).orElseThrow(), slot.whole, variables, parts),
          () -> parts.put(name, slot.copy));
    }
    parts.forEach((name, view) -> saved.add(new SavedTensor(name, view)));
  }

  /// The state of each variable by the name that it has where ranks have no shares.
  private static void cut(
      Share share,
      String slot,
      TensorView whole,
      Map<String, Output<TFloat32>> variables,
      Map<String, TensorView> parts) {
    long at = 0;
    for (String name : share.of()) {
      Output<TFloat32> variable = Objects.requireNonNull(variables.get(name), name);
      Shape shape = Shape.of(variable.shape().asArray());
      long bytes = shape.elements() * Float.BYTES;
      parts.put(
          Optimizer.createName(variable, slot),
          new TensorView(DType.FLOAT32, shape, whole.data().asSlice(at, bytes)));
      at += bytes;
    }
  }

  private static Output<TFloat32> output(GraphOperation op) {
    Output<TFloat32> output = op.output(0);
    if (!output.dataType().equals(DataType.DT_FLOAT_REF)) {
      throw new IllegalArgumentException(
          "variable " + op.name() + " is of " + output.dataType() + ", not DT_FLOAT_REF");
    }
    return output;
  }

  private Slot slot(Ops tf, Output<TFloat32> variable, Optional<Share> share) {
    Operand<TFloat32> reference = variable;
    Placeholder<TFloat32> value =
        tf.placeholder(TFloat32.class, Placeholder.shape(variable.shape()));
    Shape shape = Shape.of(variable.shape().asArray());
    TensorView whole = memory(share.map(of -> Shape.of(of.whole())).orElse(shape));
    TensorView copy =
        share
            .map(
                of ->
                    new TensorView(
                        DType.FLOAT32,
                        shape,
                        whole
                            .data()
                            .asSlice(of.first() * Float.BYTES, of.elements() * Float.BYTES)))
            .orElse(whole);
    return new Slot(
        variable.op().name(),
        copy,
        whole,
        share.isPresent(),
        variable,
        value,
        tf.assign(reference, value));
  }

  private TensorView memory(Shape shape) {
    return new TensorView(DType.FLOAT32, shape, arena.allocate(shape.elements() * Float.BYTES, 64));
  }

  List<Slot> slots() {
    return List.copyOf(slots);
  }

  /// Whether ranks have shares of it: then `fetch` of all is collective.
  boolean isShared() {
    return slots.stream().anyMatch(Slot::isShare);
  }

  /// Returns the bytes that a session has of it beside the weights.
  long optimizerBytes(List<Slot> weights) {
    return slots.stream().mapToLong(slot -> slot.copy.bytes()).sum()
        - weights.stream().mapToLong(slot -> slot.copy.bytes()).sum();
  }

  /// The copies, as a checkpoint has them; borrowed.
  List<SavedTensor> saved() {
    return List.copyOf(saved);
  }

  List<TensorView> copies() {
    return slots.stream().map(Slot::copy).toList();
  }

  /// Copies from the session to memory.
  void fetch(Session session) {
    fetch(session, slots);
  }

  /// The same of some.
  void fetch(Session session, List<Slot> some) {
    Session.Runner runner = session.runner();
    for (Slot slot : some) {
      runner.fetch(slot.variable);
    }
    try (Result values = runner.run()) {
      for (int i = 0; i < some.size(); i++) {
        some.get(i).copy.data().copyFrom(TensorViews.of(values.get(i)).data());
      }
    }
    for (Slot slot : some) {
      if (slot.isShare()) {
        exchange.gather("state/" + slot.name, slot.copy, slot.whole);
      }
    }
  }

  /// Copies from memory to the session.
  void assign(Session session) {
    assign(session, slots);
  }

  /// The same of some.
  void assign(Session session, List<Slot> some) {
    for (Slot slot : some) {
      try (TFloat32 value = TensorViews.copyOf(slot.copy, TFloat32.class)) {
        session.runner().feed(slot.value, value).addTarget(slot.assign).run().close();
      }
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}
