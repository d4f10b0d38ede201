// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import org.tensorflow.Operand;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

/// The combination of a bag's weighted rows into one row, as in TensorFlow's
/// `embedding_lookup_sparse`. Without weights each row counts once. A bag without ids yields a row
/// of zeros.
public enum Combiner {
  /// The weighted sum of the rows.
  SUM {
    @Override
    Operand<TFloat32> shares(Ops tf, Operand<TFloat32> weights) {
      return tf.zerosLike(weights);
    }

    @Override
    Operand<TFloat32> divisor(Ops tf, Operand<TFloat32> totals) {
      return totals;
    }
  },
  /// The weighted sum of the rows divided by the sum of the weights.
  MEAN {
    @Override
    Operand<TFloat32> shares(Ops tf, Operand<TFloat32> weights) {
      return weights;
    }

    @Override
    Operand<TFloat32> divisor(Ops tf, Operand<TFloat32> totals) {
      return totals;
    }
  },
  /// The weighted sum of the rows divided by the square root of the sum of the squared weights.
  SQRTN {
    @Override
    Operand<TFloat32> shares(Ops tf, Operand<TFloat32> weights) {
      return tf.math.square(weights);
    }

    @Override
    Operand<TFloat32> divisor(Ops tf, Operand<TFloat32> totals) {
      return tf.math.sqrt(totals);
    }
  };

  /// Returns the share of each id in the total of its bag.
  ///
  /// @param weights of shape ids
  abstract Operand<TFloat32> shares(Ops tf, Operand<TFloat32> weights);

  /// Returns the divisor of each bag.
  ///
  /// @param totals the totals of the bags, 1 where all shares are 0
  abstract Operand<TFloat32> divisor(Ops tf, Operand<TFloat32> totals);
}
