// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.Locale;
import org.tensorflow.Graph;
import org.tensorflow.framework.optimizers.AdaGrad;
import org.tensorflow.framework.optimizers.Adam;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.framework.optimizers.Momentum;
import org.tensorflow.framework.optimizers.Optimizer;

/// TensorFlow Java's optimizers, as far as `--optimizer` offers them.
public enum OptimizerKind {
  /// Plain gradient descent.
  SGD,
  /// With momentum 0.9.
  MOMENTUM,
  /// With TensorFlow's defaults for both moments.
  ADAM,
  /// With TensorFlow's initial accumulator.
  ADAGRAD;

  private static final float MOMENTUM_FACTOR = 0.9f;

  /// The optimizer in a graph.
  public Optimizer in(Graph graph, float rate) {
    return switch (this) {
      case SGD -> new GradientDescent(graph, rate);
      case MOMENTUM -> new Momentum(graph, rate, MOMENTUM_FACTOR);
      case ADAM -> new Adam(graph, rate);
      case ADAGRAD -> new AdaGrad(graph, rate);
    };
  }

  /// Whether steps grow and shrink with the gradients, so that scaling these is scaling the rate.
  /// The other optimizers normalize their gradients.
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
