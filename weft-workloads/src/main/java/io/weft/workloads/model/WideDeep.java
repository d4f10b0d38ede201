// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import io.weft.workloads.clicks.Ids;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Operand;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Unstack;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TUint8;

/// A wide and deep network [Cheng et al. 2016]: a weight for each category of each column, and
/// dense layers over an embedding of each category. It has hundreds of small tensors.
///
/// @param columns of categories
record WideDeep(int columns) {

  /// The number of floats in an embedding.
  static final int EMBEDDED = 8;

  /// The standard deviation of the initial embeddings.
  static final float DEVIATION = 0.05f;

  private static final int FIRST = 128;
  private static final int SECOND = 64;

  /// Returns logits of shape batch by 2: no click, and click.
  ///
  /// @param bytes of shape batch by twice the columns, encoded by `Ids`
  Operand<TFloat32> logits(Layers layers, Operand<TUint8> bytes) {
    Ops tf = layers.tf();
    List<Operand<TFloat32>> wide = new ArrayList<>();
    List<Operand<TFloat32>> deep = new ArrayList<>();
    int c = 0;
    for (Operand<TInt32> ids : ids(tf, bytes)) {
      wide.add(layers.rows("wide" + c, ids, Ids.VOCABULARY, 1, 0));
      deep.add(layers.rows("deep" + c, ids, Ids.VOCABULARY, EMBEDDED, DEVIATION));
      c++;
    }
    return logits(layers, tf.concat(deep, tf.constant(1)), tf.math.addN(wide));
  }

  /// Returns logits for rows that the caller has looked up.
  ///
  /// @param embedded of shape batch by columns times `EMBEDDED`
  /// @param wide the sum of each example's weights, of shape batch by 1
  Operand<TFloat32> logits(Layers layers, Operand<TFloat32> embedded, Operand<TFloat32> wide) {
    Ops tf = layers.tf();
    var first = tf.nn.relu(layers.dense("dense1", embedded, columns * EMBEDDED, FIRST));
    var second = tf.nn.relu(layers.dense("dense2", first, FIRST, SECOND));
    var click = tf.math.add(wide, layers.dense("dense3", second, SECOND, 1));
    return Verdict.logits(tf, click);
  }

  /// Returns the number of weights and biases of the dense layers.
  int denseParameters() {
    return (columns * EMBEDDED + 1) * FIRST + (FIRST + 1) * SECOND + SECOND + 1;
  }

  private List<? extends Operand<TInt32>> ids(Ops tf, Operand<TUint8> bytes) {
    var pairs =
        tf.reshape(
            tf.dtypes.cast(bytes, TInt32.class), tf.constant(new int[] {-1, columns, Ids.BYTES}));
    var weighted = tf.math.mul(pairs, tf.constant(new int[] {1 << Byte.SIZE, 1}));
    return tf.unstack(tf.sum(weighted, tf.constant(2)), (long) columns, Unstack.axis(1L)).output();
  }
}
