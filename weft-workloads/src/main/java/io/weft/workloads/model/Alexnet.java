// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import io.weft.workloads.model.Layers.Window;
import org.tensorflow.Operand;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

/// AlexNet: five convolutions and three dense layers [Krizhevsky 2014, on one device], the network
/// that [JIA17 §4] measures. It has no dropout, so a seed determines a run to the bit.
///
/// @param side of the square images in pixels, at least 67
/// @param narrowing the divisor of every layer's published width; divides 64
/// @param classes width of the output
record Alexnet(int side, int narrowing, int classes) {

  /// The published network: 224x224 pixels, 1,000 classes, 50 million weights.
  static final Alexnet FULL = new Alexnet(224, 1, 1000);

  private static final int COLOURS = 3;
  private static final int NARROW = 16;

  /// Returns the network for images of this number of values. For images smaller than the published
  /// ones the layers are narrow, so that a step takes milliseconds.
  static Alexnet seeing(int features) {
    int side = (int) Math.round(Math.sqrt((double) features / COLOURS));
    return side == FULL.side ? FULL : new Alexnet(side, NARROW, FULL.classes);
  }

  /// Returns the number of values in a row of `x`.
  int features() {
    return COLOURS * side * side;
  }

  /// Returns scores of shape batch by classes.
  ///
  /// @param x of shape batch by features, pixel after pixel
  Operand<TFloat32> logits(Layers layers, Operand<TFloat32> x) {
    Ops tf = layers.tf();
    Window thirds = Window.inside(3, 2);
    var images = tf.reshape(x, tf.constant(new int[] {-1, side, side, COLOURS}));
    var first = layers.convolution("conv1", images, Window.inside(11, 4), COLOURS, width(64));
    var second =
        layers.convolution(
            "conv2", layers.pool(first, thirds), Window.same(5), width(64), width(192));
    var third =
        layers.convolution(
            "conv3", layers.pool(second, thirds), Window.same(3), width(192), width(384));
    var fourth = layers.convolution("conv4", third, Window.same(3), width(384), width(384));
    var fifth = layers.convolution("conv5", fourth, Window.same(3), width(384), width(256));
    int cells = pooled(pooled(pooled((side - 11) / 4 + 1)));
    int flat = cells * cells * width(256);
    var row = tf.reshape(layers.pool(fifth, thirds), tf.constant(new int[] {-1, flat}));
    var sixth = tf.nn.relu(layers.dense("dense6", row, flat, width(4096)));
    var seventh = tf.nn.relu(layers.dense("dense7", sixth, width(4096), width(4096)));
    return layers.dense("dense8", seventh, width(4096), classes);
  }

  private int width(int published) {
    return published / narrowing;
  }

  private static int pooled(int cells) {
    return (cells - 3) / 2 + 1;
  }
}
