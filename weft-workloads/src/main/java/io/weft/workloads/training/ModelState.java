// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.TensorViews;
import io.weft.workloads.checkpoint.SavedTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.proto.DataType;
import org.tensorflow.types.TFloat32;

/// All that a graph remembers from step to step, weights and optimizer state, copied to and from
/// native memory, where it can be averaged, broadcast, saved. One thread. Owns the memory.
final class ModelState implements AutoCloseable {

  private final Arena arena = Arena.ofShared();
  private final List<Slot> slots = new ArrayList<>();

  /// One variable, its copy, and the ops that bring the copy back.
  ///
  /// @param name of the variable in the graph
  /// @param copy FLOAT32, of the variable's shape
  record Slot(
      String name,
      TensorView copy,
      Output<TFloat32> variable,
      Placeholder<TFloat32> value,
      Op assign) {}

  /// Of all variables that are in the graph now, in the order in which they were added.
  ModelState(Graph graph) {
    Ops tf = Ops.create(graph);
    var variables = new ArrayList<Output<TFloat32>>();
    graph
        .operations()
        .forEachRemaining(
            op -> {
              if (op.type().equals("VariableV2")) {
                variables.add(output(op));
              }
            });
    for (Output<TFloat32> variable : variables) {
      slots.add(slot(tf, variable));
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

  private Slot slot(Ops tf, Output<TFloat32> variable) {
    Operand<TFloat32> reference = variable;
    Placeholder<TFloat32> value =
        tf.placeholder(TFloat32.class, Placeholder.shape(variable.shape()));
    Shape shape = Shape.of(variable.shape().asArray());
    MemorySegment memory = arena.allocate(shape.elements() * Float.BYTES, 64);
    return new Slot(
        variable.op().name(),
        new TensorView(DType.FLOAT32, shape, memory),
        variable,
        value,
        tf.assign(reference, value));
  }

  List<Slot> slots() {
    return List.copyOf(slots);
  }

  /// The copies, as a checkpoint has them; borrowed.
  List<SavedTensor> saved() {
    return slots.stream().map(slot -> new SavedTensor(slot.name, slot.copy)).toList();
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
