// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import io.weft.workloads.checkpoint.SavedTensor;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Tensor;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.proto.DataType;
import org.tensorflow.types.TFloat32;

/// The training state of the servers: weights and optimizer state. It is read and restored through
/// a session, on the server of each variable.
///
/// @param variables in the order in which they were added to the graph
record ServerMemory(List<Held> variables) {

  /// A state without variables.
  static final ServerMemory NONE = new ServerMemory(List.of());

  private static final String VALUE = "_value";
  private static final String RESTORE = "_restore";

  /// The bytes that one step restores at most, except for a single larger variable.
  private static final long STEP_BYTES = 16 << 20;

  /// A variable, FLOAT32.
  record Held(String name, Shape shape) {

    private long bytes() {
      return shape.elements() * Float.BYTES;
    }
  }

  /// Returns the state of all float32 variables now in the graph; adds the ops that restore them.
  static ServerMemory addTo(Graph graph) {
    List<Output<TFloat32>> found = new ArrayList<>();
    graph
        .operations()
        .forEachRemaining(
            op -> {
              if (isHeld(op)) {
                found.add(op.output(0));
              }
            });
    Ops tf = Ops.create(graph);
    List<Held> variables = new ArrayList<>();
    for (Output<TFloat32> variable : found) {
      String name = variable.op().name();
      Operand<TFloat32> reference = variable;
      var value =
          tf.withName(name + VALUE)
              .placeholder(TFloat32.class, Placeholder.shape(variable.shape()));
      var restored = tf.withName(name + RESTORE).assign(reference, value);
      assert restored.op().name().equals(name + RESTORE);
      variables.add(new Held(name, Shape.of(variable.shape().asArray())));
    }
    return new ServerMemory(List.copyOf(variables));
  }

  private static boolean isHeld(GraphOperation op) {
    return op.type().equals("VariableV2") && op.output(0).dataType().equals(DataType.DT_FLOAT_REF);
  }

  /// Reads all variables in one step. The caller owns the fetches.
  Fetched read(GraphSession session, Duration limit) throws InterruptedException {
    List<String> fetches = variables.stream().map(held -> held.name + ":0").toList();
    return session.run(new GraphCall(List.of(), fetches, List.of()), Map.of(), limit);
  }

  /// Returns the fetches of `read` in the form of a checkpoint; borrowed from `fetched`.
  List<SavedTensor> saved(Fetched fetched) {
    List<SavedTensor> saved = new ArrayList<>();
    for (int i = 0; i < variables.size(); i++) {
      saved.add(new SavedTensor(variables.get(i).name, TensorViews.of(fetched.get(i))));
    }
    return saved;
  }

  /// Allocates memory for all variables.
  List<SavedTensor> empty(Arena arena) {
    return variables.stream()
        .map(
            held ->
                new SavedTensor(
                    held.name,
                    new TensorView(DType.FLOAT32, held.shape, arena.allocate(held.bytes(), 64))))
        .toList();
  }

  /// Assigns these values to the variables.
  ///
  /// @param values in the order of the variables
  void write(GraphSession session, List<SavedTensor> values, Duration limit)
      throws InterruptedException {
    List<SavedTensor> next = new ArrayList<>();
    long bytes = 0;
    for (SavedTensor value : values) {
      if (!next.isEmpty() && bytes + value.copy().bytes() > STEP_BYTES) {
        writeTogether(session, next, limit);
        next.clear();
        bytes = 0;
      }
      next.add(value);
      bytes += value.copy().bytes();
    }
    if (!next.isEmpty()) {
      writeTogether(session, next, limit);
    }
  }

  private static void writeTogether(GraphSession session, List<SavedTensor> values, Duration limit)
      throws InterruptedException {
    Map<String, Tensor> feeds = new HashMap<>();
    try {
      for (SavedTensor value : values) {
        feeds.put(value.name() + VALUE, TensorViews.copyOf(value.copy(), TFloat32.class));
      }
      var call =
          new GraphCall(
              values.stream().map(value -> value.name() + VALUE).toList(),
              List.of(),
              values.stream().map(value -> value.name() + RESTORE).toList());
      session.run(call, feeds, limit).close();
    } finally {
      feeds.values().forEach(Tensor::close);
    }
  }
}
