// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.Locale;
import org.tensorflow.Graph;
import org.tensorflow.framework.optimizers.AdaGrad;
import org.tensorflow.framework.optimizers.Adam;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.framework.optimizers.Momentum;
import org.tensorflow.framework.optimizers.Optimizer;

/// TensorFlow Java's optimizers that `--optimizer` offers.
public enum OptimizerKind {
  /// Plain gradient descent.
  SGD,
  /// Gradient descent with momentum 0.9.
  MOMENTUM,
  /// Adam with TensorFlow's defaults for both moments.
  ADAM,
  /// AdaGrad with TensorFlow's initial accumulator.
  ADAGRAD;

  private static final float MOMENTUM_FACTOR = 0.9f;

  /// Adds the optimizer to a graph.
  public Optimizer in(Graph graph, float rate) {
    return switch (this) {
      case SGD -> new GradientDescent(graph, rate);
      case MOMENTUM -> new Momentum(graph, rate, MOMENTUM_FACTOR);
      case ADAM -> new Adam(graph, rate);
      case ADAGRAD -> new AdaGrad(graph, rate);
    };
  }

  /// Returns whether updates are proportional to the gradients, so that scaling the gradients
  /// scales the learning rate. The other optimizers normalize their gradients.
  public boolean followsGradientScale() {
    return switch (this) {
      case SGD, MOMENTUM -> true;
      case ADAM, ADAGRAD -> false;
    };
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
