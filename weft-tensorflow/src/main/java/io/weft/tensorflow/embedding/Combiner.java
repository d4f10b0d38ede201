// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import org.tensorflow.Operand;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

/// How the rows of a bag of ids become one row, as TensorFlow's `embedding_lookup_sparse` has it. A
/// bag without ids is a row of zeros.
public enum Combiner {
  /// Their sum.
  SUM {
    @Override
    Operand<TFloat32> weigh(Ops tf, Operand<TFloat32> sums, Operand<TFloat32> counts) {
      return sums;
    }
  },
  /// Their sum by their number.
  MEAN {
    @Override
    Operand<TFloat32> weigh(Ops tf, Operand<TFloat32> sums, Operand<TFloat32> counts) {
      return tf.math.div(sums, counts);
    }
  },
  /// Their sum by the square root of their number.
  SQRTN {
    @Override
    Operand<TFloat32> weigh(Ops tf, Operand<TFloat32> sums, Operand<TFloat32> counts) {
      return tf.math.div(sums, tf.math.sqrt(counts));
    }
  };

  /// @param sums of shape bags by width
  /// @param counts of the ids of each bag, at least 1, of shape bags by 1
  abstract Operand<TFloat32> weigh(Ops tf, Operand<TFloat32> sums, Operand<TFloat32> counts);
}
