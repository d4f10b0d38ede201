// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import org.tensorflow.Operand;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

/// The combination of a bag's rows into one row, as in TensorFlow's `embedding_lookup_sparse`. A
/// bag without ids yields a row of zeros.
public enum Combiner {
  /// The sum of the rows.
  SUM {
    @Override
    Operand<TFloat32> weigh(Ops tf, Operand<TFloat32> sums, Operand<TFloat32> counts) {
      return sums;
    }
  },
  /// The sum of the rows divided by their number.
  MEAN {
    @Override
    Operand<TFloat32> weigh(Ops tf, Operand<TFloat32> sums, Operand<TFloat32> counts) {
      return tf.math.div(sums, counts);
    }
  },
  /// The sum of the rows divided by the square root of their number.
  SQRTN {
    @Override
    Operand<TFloat32> weigh(Ops tf, Operand<TFloat32> sums, Operand<TFloat32> counts) {
      return tf.math.div(sums, tf.math.sqrt(counts));
    }
  };

  /// @param sums of shape bags by width
  /// @param counts the number of ids of each bag, at least 1, of shape bags by 1
  abstract Operand<TFloat32> weigh(Ops tf, Operand<TFloat32> sums, Operand<TFloat32> counts);
}
