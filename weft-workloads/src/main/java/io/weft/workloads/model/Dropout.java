// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.Objects;
import org.tensorflow.Operand;
import org.tensorflow.Session;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.PlaceholderWithDefault;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;

/// The random omission of neurons during training. The others are scaled up, so that an evaluation,
/// which omits none, sees sums of the same mean. The choice depends only on seed, step, shard and
/// layer. Confined to the thread that builds the graph.
public final class Dropout {

  private static final String RATE = "dropout_rate";
  private static final String DRAW = "dropout_draw";

  private final Ops tf;
  private final PlaceholderWithDefault<TFloat32> rate;
  private final PlaceholderWithDefault<TInt64> draw;
  private long layers;

  Dropout(Ops tf) {
    this.tf = tf;
    this.rate = tf.withName(RATE).placeholderWithDefault(tf.constant(0f), Shape.scalar());
    this.draw = tf.withName(DRAW).placeholderWithDefault(tf.constant(new long[2]), Shape.of(2));
  }

  /// Returns the activations of a layer without those that a training step omits.
  Operand<TFloat32> of(Operand<TFloat32> layer) {
    var seeds = tf.math.add(draw, tf.constant(new long[] {layers++, 0}));
    var random = tf.random.statelessRandomUniform(tf.shape(layer, TInt32.class), seeds);
    var kept = tf.dtypes.cast(tf.math.greaterEqual(random, rate), TFloat32.class);
    return tf.math.mul(layer, tf.math.div(kept, tf.math.sub(tf.constant(1f), rate)));
  }

  /// The values that training steps feed, rewritten for each step. Owns two tensors.
  public static final class Draws implements AutoCloseable {

    private final TFloat32 rate;
    private final TInt64 draw = TInt64.tensorOf(Shape.of(2));
    private final long seed;

    /// @param fraction of the neurons that steps omit
    public Draws(float fraction, long seed) {
      this.rate = TFloat32.scalarOf(fraction);
      this.seed = seed * 0x9e3779b97f4a7c15L;
    }

    /// Adds the values of a step to a run, which must end before the next call.
    ///
    /// @param step of the training
    /// @param shard of the batch
    public void feed(Session.Runner runner, long step, int shard) {
      Objects.requireNonNull(runner, "runner");
      draw.setLong(seed + ((long) shard << Short.SIZE), 0);
      draw.setLong(step, 1);
      var unused = runner.feed(RATE, rate).feed(DRAW, draw);
    }

    @Override
    public void close() {
      rate.close();
      draw.close();
    }
  }
}
