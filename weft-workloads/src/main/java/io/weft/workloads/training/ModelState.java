// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.DistributedOptimizer;
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

/// The weights and optimizer state of a graph, copied to and from native memory, where they can be
/// averaged, broadcast and saved. If ranks have shares of a variable, the session has this rank's
/// share and the memory has the whole. Confined to one thread. Owns the memory.
final class ModelState implements AutoCloseable {

  private final Arena arena = Arena.ofShared();
  private final List<Slot> slots = new ArrayList<>();
  private final List<SavedTensor> saved = new ArrayList<>();
  private final RankExchange exchange;

  /// One variable, its copy, and the ops that restore the copy.
  ///
  /// @param name of the variable in the graph
  /// @param copy FLOAT32, of the variable's shape
  /// @param whole the shares of all ranks if each rank has a share; otherwise the copy
  /// @param isShare true if each rank has a share
  record Slot(
      String name,
      TensorView copy,
      TensorView whole,
      boolean isShare,
      Output<TFloat32> variable,
      Placeholder<TFloat32> value,
      Op assign) {}

  /// Creates the state of all variables in the graph, in order of creation, without accumulated
  /// gradients.
  ///
  /// @param shares of this rank; empty if each rank has all variables whole
  ModelState(Graph graph, List<Share> shares, RankExchange exchange) {
    this.exchange = exchange;
    Ops tf = Ops.create(graph);
    Map<String, Output<TFloat32>> variables = new LinkedHashMap<>();
    graph
        .operations()
        .forEachRemaining(
            op -> {
              if (op.type().equals("VariableV2")
                  && !DistributedOptimizer.isAccumulator(op.name())) {
                variables.put(op.name(), output(op));
              }
            });
    shares.forEach(share -> variables.remove(share.variable())); // assigned again in each step
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

  /// Adds the state of each variable under its name in a graph without shares.
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

  /// Returns whether variables are divided into shares; if so, fetching all slots is collective.
  boolean isShared() {
    return slots.stream().anyMatch(Slot::isShare);
  }

  /// Returns the bytes of this state in a session, without the weights.
  long optimizerBytes(List<Slot> weights) {
    return slots.stream().mapToLong(slot -> slot.copy.bytes()).sum()
        - weights.stream().mapToLong(slot -> slot.copy.bytes()).sum();
  }

  /// Returns the copies that a checkpoint saves; borrowed.
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

  /// Copies some slots from the session to memory.
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

  /// Copies some slots from memory to the session.
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
