// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.VarHandleOp;
import org.tensorflow.types.TBool;
import org.tensorflow.types.TFloat32;

class ResourceVariableTest {

  private final InMemoryRanks ranks = new InMemoryRanks(2);

  @AfterEach
  void close() {
    ranks.close();
  }

  @Test
  void resourceVariablesAreBroadcast() throws Exception {
    List<float[]> values =
        Together.run(
            2,
            rank ->
                () -> {
                  try (Graph graph = new Graph()) {
                    Ops tf = Ops.create(graph);
                    VarHandleOp w =
                        tf.varHandleOp(
                            TFloat32.class, Shape.of(2), VarHandleOp.sharedName("w" + rank));
                    Op start = tf.assignVariableOp(w, tf.constant(new float[] {rank, 10 * rank}));
                    Operand<TFloat32> read = tf.readVariableOp(w, TFloat32.class);
                    try (Session session = new Session(graph)) {
                      session.run(start);
                      WeftVariables.broadcast(session, ranks.of(rank), 1);
                      try (Result result = session.runner().fetch(read).run()) {
                        return TensorViews.of(result.get(0))
                            .data()
                            .toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
                      }
                    }
                  }
                });
    assertThat(values).allSatisfy(value -> assertThat(value).containsExactly(1, 10));
  }

  @Test
  void variableOfAnUnsupportedTypeIsNamed() {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      tf.withName("flag").variable(Shape.scalar(), TBool.class);
      try (Session session = new Session(graph)) {
        assertThatThrownBy(() -> WeftVariables.broadcast(session, ranks.of(0), 0))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("variable 'flag' cannot be broadcast");
      }
    }
  }
}
