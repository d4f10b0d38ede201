// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.order;

import io.weft.tensorflow.partition.GraphCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.tensorflow.DeviceSpec;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.buffer.DataBuffers;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// The forward pass of a U-Net [UNET15 fig. 1] without biases, with residual blocks at its bottom
/// and with skip connections that are added. Its encoder is on one task, its decoder on another.
/// The activations of the encoder's levels cross the link: the first one is the longest and ready
/// first, and the decoder needs it last. The result is proportional to the fed scale.
///
/// @param graph the graph, with devices if the network is split
/// @param bytes length of all activations that cross
record SplitUNet(GraphDef graph, long bytes) {

  static final String ENCODER = "encoder";
  static final String DECODER = "decoder";

  /// A step: the mean of each channel of each image.
  static final GraphCall STEP = new GraphCall(List.of("scale"), List.of("result:0"), List.of());

  private static final int SIDE = 256;
  private static final int CHANNELS = 4;
  private static final int LEVELS = 3;
  private static final int BLOCKS = 8;
  private static final int WINDOW = 3;
  private static final long SEED = 2015;

  /// Returns the network for a batch of images on two tasks.
  static SplitUNet split(int batch) {
    return of(batch, device(ENCODER), device(DECODER));
  }

  /// Returns the same network without devices.
  static SplitUNet whole(int batch) {
    return of(batch, null, null);
  }

  private static DeviceSpec device(String job) {
    return DeviceSpec.newBuilder().job(job).task(0).build();
  }

  private static SplitUNet of(
      int batch, @Nullable DeviceSpec encoder, @Nullable DeviceSpec decoder) {
    try (Graph graph = new Graph()) {
      Ops ops = Ops.create(graph);
      Random random = new Random(SEED);
      Ops down = encoder == null ? ops : ops.withDevice(encoder);
      List<Operand<TFloat32>> levels = encode(new NetworkHalf(down, random), batch);
      Ops up = decoder == null ? ops : ops.withDevice(decoder);
      decode(new NetworkHalf(up, random), levels);
      long bytes = 0;
      for (int level = 0; level <= LEVELS; level++) {
        int side = SIDE >> level;
        bytes += (long) batch * side * side * channels(level) * Float.BYTES;
      }
      return new SplitUNet(graph.toGraphDef(), bytes);
    }
  }

  private static int channels(int level) {
    return CHANNELS << level;
  }

  /// Returns the activations of all levels; the last one is the bottleneck.
  private static List<Operand<TFloat32>> encode(NetworkHalf layers, int batch) {
    Ops tf = layers.tf();
    var scale = tf.withName("scale").placeholder(TFloat32.class, Placeholder.shape(Shape.of()));
    var images =
        tf.tile(layers.values(1, 1, SIDE, SIDE, 1), tf.constant(new int[] {batch, 1, 1, 1}));
    Operand<TFloat32> x = tf.math.mul(images, scale);
    List<Operand<TFloat32>> levels = new ArrayList<>();
    for (int level = 0; level <= LEVELS; level++) {
      if (level > 0) {
        int[] half = {1, 2, 2, 1};
        x = tf.nn.maxPool(x, tf.constant(half), tf.constant(half), "VALID");
      }
      x = layers.convolution(x, WINDOW, level == 0 ? 1 : channels(level - 1), channels(level));
      levels.add(x);
    }
    return levels;
  }

  private static void decode(NetworkHalf layers, List<Operand<TFloat32>> levels) {
    Ops tf = layers.tf();
    Operand<TFloat32> x = levels.getLast();
    for (int block = 0; block < BLOCKS; block++) {
      x = tf.math.add(x, layers.convolution(x, WINDOW, channels(LEVELS), channels(LEVELS)));
    }
    for (int level = LEVELS - 1; level >= 0; level--) {
      int own = channels(level);
      Operand<TFloat32> larger =
          tf.nn.depthToSpace(layers.convolution(x, 1, channels(level + 1), 4 * own), 2L);
      x = tf.math.add(levels.get(level), larger);
      if (level > 0) {
        x = layers.convolution(x, WINDOW, own, own);
      }
    }
    tf.withName("result").math.mean(x, tf.constant(new int[] {1, 2}));
  }

  /// The layers of one half.
  private record NetworkHalf(Ops tf, Random random) {

    /// Returns the ReLU of a convolution.
    Operand<TFloat32> convolution(Operand<TFloat32> x, int window, int inputs, int outputs) {
      double deviation = Math.sqrt(2.0 / (window * window * inputs));
      var weights = values(deviation, window, window, inputs, outputs);
      return tf.nn.relu(tf.nn.conv2d(x, weights, List.of(1L, 1L, 1L, 1L), "SAME"));
    }

    Operand<TFloat32> values(double deviation, long... dims) {
      Shape shape = Shape.of(dims);
      float[] values = new float[Math.toIntExact(shape.size())];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) (deviation * random.nextGaussian());
      }
      return tf.constant(shape, DataBuffers.of(values));
    }
  }
}
