// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.collective.Communicator;
import io.weft.gradient.GradientReducer;
import io.weft.tensorflow.DistributedOptimizer.Updates;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;

class NormClippingTest {

  @ParameterizedTest
  @CsvSource({"1, 0.6, 0.8", "2.5, 1.5, 2", "5, 3, 4", "100, 3, 4"})
  void averagesAreScaledToTheLargestNormOfAllTogether(double largest, float first, float second) {
    // Averages of 3 and 4, whose norm is 5.
    List<float[]> weights =
        RankGraphs.on(
            2,
            weft ->
                weft.rank() == 0
                    ? stepped(weft.communicator(), Updates.AS_THEY_COME, largest, 6, 0)
                    : stepped(weft.communicator(), Updates.AS_THEY_COME, largest, 0, 8));
    assertThat(weights.get(1)).containsExactly(weights.get(0));
    assertThat(weights.get(0)).containsExactly(new float[] {-first, -second}, within(1e-6f));
  }

  @Test
  void gradientsOfUpdatesInSharesAreRefused() {
    List<Boolean> refused =
        RankGraphs.on(
            2,
            weft -> {
              assertThatThrownBy(() -> stepped(weft.communicator(), Updates.IN_SHARES, 1, 1, 1))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("updates in shares cannot be clipped");
              return true;
            });
    assertThat(refused).hasSize(2);
  }

  /// Returns two variables after a step from 0 with rate 1.
  private static float[] stepped(
      Communicator communicator, Updates updates, double largest, float... gradients) {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      List<Variable<TFloat32>> variables = new ArrayList<>();
      List<Operand<TFloat32>> terms = new ArrayList<>();
      for (float gradient : gradients) {
        Variable<TFloat32> variable = tf.variable(Shape.scalar(), TFloat32.class);
        Ops init = tf.withInitScope();
        init.assign(variable, init.constant(0f));
        variables.add(variable);
        terms.add(tf.math.mul(variable, tf.constant(gradient)));
      }
      var optimizer =
          new DistributedOptimizer(
              communicator,
              GradientReducer.ALLREDUCE,
              new GradientDescent(graph, 1),
              GradientOptions.DEFAULT.with(updates));
      var averages = optimizer.computeGradients(tf.math.addN(terms));
      Op step = optimizer.applyGradients(optimizer.clip(averages, tf.constant(largest)), "clipped");
      try (Session session = new Session(graph, OpLibrary.load().sessionConfig(graph))) {
        session.initialize();
        session.runner().addTarget(step).run().close();
        Session.Runner runner = session.runner();
        variables.forEach(runner::fetch);
        try (Result result = runner.run()) {
          float[] values = new float[variables.size()];
          for (int i = 0; i < values.length; i++) {
            values[i] = ((TFloat32) result.get(i)).getFloat();
          }
          return values;
        }
      }
    }
  }
}
