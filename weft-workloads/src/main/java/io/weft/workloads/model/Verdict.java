// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.List;
import org.tensorflow.Operand;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// The loss and the predictions of a network for a batch.
///
/// @param lossSum cross entropy summed over the batch; a scalar
/// @param correct the number of correct predictions in the batch; a scalar
/// @param logits of shape batch by classes
record Verdict(Operand<TFloat32> lossSum, Operand<TInt32> correct, Operand<TFloat32> logits) {

  static Verdict of(Ops tf, Operand<TFloat32> logits, Operand<TInt32> labels, int classes) {
    // The variant with sparse labels has no gradient in TensorFlow's native registry.
    var oneHot = tf.oneHot(labels, tf.constant(classes), tf.constant(1f), tf.constant(0f));
    var losses = tf.nn.softmaxCrossEntropyWithLogits(logits, oneHot).loss();
    var answers = tf.math.argMax(logits, tf.constant(1), TInt32.class);
    var hits = tf.dtypes.cast(tf.math.equal(answers, labels), TInt32.class);
    return new Verdict(tf.sum(losses, tf.constant(0)), tf.sum(hits, tf.constant(0)), logits);
  }

  /// Returns logits of shape batch by 2 from the log odds of a click, of shape batch by 1.
  static Operand<TFloat32> logits(Ops tf, Operand<TFloat32> click) {
    return tf.concat(List.of(tf.zerosLike(click), click), tf.constant(1));
  }

  /// Returns the probability of the second of two classes.
  Operand<TFloat32> clicks(Ops tf) {
    return tf.gather(tf.nn.softmax(logits), tf.constant(1), tf.constant(1));
  }
}
