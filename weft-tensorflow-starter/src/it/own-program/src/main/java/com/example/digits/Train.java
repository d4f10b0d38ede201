// SPDX-License-Identifier: Apache-2.0
package com.example.digits;

import io.weft.Weft;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.DistributedOptimizer;
import io.weft.tensorflow.WeftOps;
import io.weft.tensorflow.WeftVariables;
import io.weft.tensorflow.saved.WeftSavedModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.Signature;
import org.tensorflow.framework.optimizers.Momentum;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.framework.optimizers.Optimizer.GradAndVar;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// A program that trains a convolutional network on drawn digits on all ranks of the job, with
/// clipped gradients, a falling rate, averaged metrics, and early stopping. Rank 0 exports the
/// model to the directory of the argument.
final class Train {

  private static final int TRAINING = 2000;
  private static final int VALIDATION = 400;
  private static final int GLOBAL_BATCH = 50;
  private static final int EPOCHS = 30;
  private static final int IDLE = 2;
  private static final float CLIP = 1;
  private static final float LEAST_GAIN = 0.005f;

  private final Graph graph;
  private final Ops tf;
  private final Random seeds = new Random(5);

  private Train(Graph graph) {
    this.graph = graph;
    this.tf = Ops.create(graph);
  }

  public static void main(String[] arguments) throws IOException {
    try (Weft weft = Weft.init();
        Graph graph = new Graph()) {
      new Train(graph).run(weft, Path.of(arguments[0]));
    }
  }

  private void run(Weft weft, Path directory) throws IOException {
    var images =
        tf.withName("images")
            .placeholder(
                TFloat32.class, Placeholder.shape(Shape.of(-1, Digits.SIDE, Digits.SIDE, 1)));
    var labels =
        tf.withName("labels")
            .placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, Digits.CLASSES)));
    var rate = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.scalar()));

    Operand<TFloat32> logits = network(images);
    Operand<TFloat32> probabilities = tf.withName("probabilities").nn.softmax(logits);
    Operand<TFloat32> loss =
        tf.math.mean(tf.nn.softmaxCrossEntropyWithLogits(logits, labels).loss(), tf.constant(0));
    Operand<TFloat32> accuracy =
        tf.math.mean(
            tf.dtypes.cast(
                tf.math.equal(
                    tf.math.argMax(logits, tf.constant(1), TInt64.class),
                    tf.math.argMax(labels, tf.constant(1), TInt64.class)),
                TFloat32.class),
            tf.constant(0));

    Optimizer optimizer =
        new DistributedOptimizer(weft.communicator(), new Momentum(graph, 1, 0.9f));
    Op step = optimizer.applyGradients(clipped(optimizer.computeGradients(loss), rate), "train");

    // Each rank validates its share. The averages, and hence all decisions, are equal on all ranks.
    var all = new WeftOps(graph, weft.communicator());
    Operand<TFloat32> meanLoss = all.allreduce(loss, "validation/loss", ReduceOp.AVERAGE);
    Operand<TFloat32> meanAccuracy =
        all.allreduce(accuracy, "validation/accuracy", ReduceOp.AVERAGE);

    try (Session session = new Session(graph)) {
      session.initialize();
      WeftVariables.broadcast(session, weft, 0);
      int[] validation = share(TRAINING, VALIDATION, weft);
      float best = Float.MAX_VALUE;
      int worse = 0;
      for (int epoch = 0; epoch < EPOCHS && worse < IDLE; epoch++) {
        float now = 0.1f * (float) Math.pow(0.8, epoch);
        for (int at = 0; at < TRAINING; at += GLOBAL_BATCH) {
          int[] mine = share(at, GLOBAL_BATCH, weft);
          try (TFloat32 x = Digits.images(mine);
              TFloat32 y = Digits.labels(mine);
              TFloat32 r = TFloat32.scalarOf(now)) {
            session
                .runner()
                .feed(images, x)
                .feed(labels, y)
                .feed(rate, r)
                .addTarget(step)
                .run()
                .close();
          }
        }
        try (TFloat32 x = Digits.images(validation);
            TFloat32 y = Digits.labels(validation);
            Result seen =
                session
                    .runner()
                    .feed(images, x)
                    .feed(labels, y)
                    .fetch(meanLoss)
                    .fetch(meanAccuracy)
                    .run()) {
          float lost = ((TFloat32) seen.get(0)).getFloat();
          float right = ((TFloat32) seen.get(1)).getFloat();
          say(weft, "epoch %d: rate %.3f, loss %.4f, accuracy %.3f", epoch + 1, now, lost, right);
          worse = lost < best - LEAST_GAIN ? 0 : worse + 1;
          best = Math.min(best, lost);
        }
        if (worse == IDLE) {
          say(weft, "no gain in %d epochs, ended after epoch %d", worse, epoch + 1);
        }
      }
      if (weft.rank() == 0) {
        Signature signature =
            Signature.builder()
                .input("images", images)
                .output("probabilities", probabilities)
                .build();
        WeftSavedModel.export(session, signature, directory);
      }
      say(weft, "%d ranks over %s: exported", weft.size(), weft.transport());
    }
  }

  private static void say(Weft weft, String text, Object... values) {
    if (weft.rank() == 0) {
      System.out.println(String.format(Locale.ROOT, text, values));
    }
  }

  /// Returns this rank's part of `count` examples from `first` on.
  private static int[] share(int first, int count, Weft weft) {
    int mine = count / weft.size();
    int[] indices = new int[mine];
    for (int i = 0; i < mine; i++) {
      indices[i] = first + weft.rank() * mine + i;
    }
    return indices;
  }

  /// Returns the averaged gradients, clipped to the global norm `CLIP`, times the rate.
  private List<GradAndVar<?>> clipped(List<GradAndVar<?>> gradients, Operand<TFloat32> rate) {
    List<Operand<TFloat32>> squares = new ArrayList<>();
    for (GradAndVar<?> gradient : gradients) {
      squares.add(tf.nn.l2Loss(value(gradient)));
    }
    Operand<TFloat32> norm = tf.math.sqrt(tf.math.mul(tf.constant(2f), tf.math.addN(squares)));
    Operand<TFloat32> scale =
        tf.math.mul(rate, tf.math.div(tf.constant(CLIP), tf.math.maximum(norm, tf.constant(CLIP))));
    List<GradAndVar<?>> clipped = new ArrayList<>();
    for (GradAndVar<?> gradient : gradients) {
      clipped.add(
          new GradAndVar<>(tf.math.mul(value(gradient), scale).asOutput(), variable(gradient)));
    }
    return clipped;
  }

  @SuppressWarnings("unchecked") // all variables here are of this type
  private static Output<TFloat32> value(GradAndVar<?> gradient) {
    return (Output<TFloat32>) gradient.getGradient();
  }

  @SuppressWarnings("unchecked") // as above
  private static Output<TFloat32> variable(GradAndVar<?> gradient) {
    return (Output<TFloat32>) gradient.getVariable();
  }

  private Operand<TFloat32> network(Operand<TFloat32> images) {
    var x = pooled(convolved(images, 1, 8));
    x = pooled(convolved(x, 8, 16));
    int width = Digits.SIDE / 4 * (Digits.SIDE / 4) * 16;
    var flat = tf.reshape(x, tf.constant(new int[] {-1, width}));
    var hidden = tf.nn.relu(dense(flat, width, 64));
    return dense(hidden, 64, Digits.CLASSES);
  }

  private Operand<TFloat32> convolved(Operand<TFloat32> x, int inputs, int outputs) {
    var kernel = weights(9 * inputs, 3, 3, inputs, outputs);
    var bias = weights(0, outputs);
    return tf.nn.relu(
        tf.nn.biasAdd(tf.nn.conv2d(x, kernel, List.of(1L, 1L, 1L, 1L), "SAME"), bias));
  }

  private Operand<TFloat32> pooled(Operand<TFloat32> x) {
    var two = tf.constant(new int[] {1, 2, 2, 1});
    return tf.nn.maxPool(x, two, two, "SAME");
  }

  private Operand<TFloat32> dense(Operand<TFloat32> x, int inputs, int outputs) {
    return tf.nn.biasAdd(
        tf.linalg.matMul(x, weights(inputs, inputs, outputs)), weights(0, outputs));
  }

  /// Creates a variable, initially normal with deviation sqrt(2 / inputs), or 0 without inputs.
  private Variable<TFloat32> weights(int inputs, int... shape) {
    long[] extents = new long[shape.length];
    for (int i = 0; i < shape.length; i++) {
      extents[i] = shape[i];
    }
    var variable = tf.variable(Shape.of(extents), TFloat32.class);
    Ops init = tf.withInitScope();
    float deviation = inputs == 0 ? 0 : (float) Math.sqrt(2.0 / inputs);
    init.assign(
        variable,
        init.math.mul(
            init.random.statelessTruncatedNormal(
                init.constant(shape), init.constant(new long[] {seeds.nextInt(), 1})),
            init.constant(deviation)));
    return variable;
  }
}
