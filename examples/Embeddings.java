// SPDX-License-Identifier: Apache-2.0
package examples;

import io.weft.Weft;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvTable;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.tensorflow.embedding.Combiner;
import io.weft.tensorflow.embedding.Lookup;
import io.weft.tensorflow.embedding.WeftEmbedding;
import java.util.Locale;
import java.util.Random;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.buffer.DataBuffers;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// Learns the values of words from the sums of bags of words. A server stores one number per word,
/// and a worker looks up the words of a batch. Words are arbitrary 64-bit numbers, so their count
/// is unknown. On two processes:
///
/// ```
/// ./weft run -np 2 -- ./weft java examples/Embeddings.java
/// ```
final class Embeddings {

  private static final int BAGS = 32;
  private static final int WORDS = 4 * BAGS;
  private static final int STEPS = 600;

  private Embeddings() {}

  static void main() throws InterruptedException {
    try (Weft weft = Weft.init();
        KvNode kv = KvNode.open(weft, KvOptions.servers(1))) {
      if (kv.serve()) {
        return; // a server whose workers have left
      }
      KvTable table =
          kv.worker()
              .register(
                  TableSpec.rows("words", 1)
                      .withRule("adagrad:lr=0.5")
                      .with(Consistency.asynchronous()));
      try (var words = WeftEmbedding.of(weft, table)) {
        train(words);
        float[] worth = new float[3];
        table.pull(new long[] {word(0), word(1), word(2)}, worth).await();
        System.out.printf(
            Locale.ROOT, "three words: %.2f %.2f %.2f%n", worth[0], worth[1], worth[2]);
      }
    }
  }

  private static void train(WeftEmbedding words) throws InterruptedException {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      var ids = tf.placeholder(TInt64.class, Placeholder.shape(Shape.of(WORDS)));
      var offsets = tf.placeholder(TInt64.class, Placeholder.shape(Shape.of(BAGS)));
      var sums = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(BAGS, 1)));
      Lookup found = words.lookup(tf, ids);
      Operand<TFloat32> error =
          tf.math.sub(WeftEmbedding.combine(tf, found, offsets, Combiner.SUM), sums);
      Operand<TFloat32> loss = tf.math.mean(tf.math.square(error), tf.constant(new int[] {0, 1}));
      var push = words.push(tf, words.gradients(tf, loss, found));
      try (Session session = new Session(graph)) {
        for (int step = 0; step < STEPS; step++) {
          try (TInt64 drawn = TInt64.tensorOf(Shape.of(WORDS));
              TInt64 begins = TInt64.tensorOf(Shape.of(BAGS));
              TFloat32 worth =
                  TFloat32.tensorOf(Shape.of(BAGS, 1), DataBuffers.of(draw(step, drawn, begins)));
              Result result =
                  session
                      .runner()
                      .feed(ids, drawn)
                      .feed(offsets, begins)
                      .feed(sums, worth)
                      .fetch(loss)
                      .addTarget(push)
                      .run()) {
            if (step % 100 == 0) {
              System.out.printf(Locale.ROOT, "loss %.3f%n", ((TFloat32) result.get(0)).getFloat());
            }
          }
        }
      }
      words.flush();
    }
  }

  /// Draws bags of 1 to 7 words, four on average. Returns the value of each bag.
  private static float[] draw(int step, TInt64 ids, TInt64 offsets) {
    var random = new Random(step);
    float[] sums = new float[BAGS];
    int at = 0;
    for (int bag = 0; bag < BAGS; bag++) {
      offsets.setLong(at, bag);
      int size = bag % 2 == 0 ? 1 + random.nextInt(7) : 8 - (int) (at - offsets.getLong(bag - 1));
      for (int i = 0; i < size; i++, at++) {
        int word = random.nextInt(50);
        ids.setLong(word(word), at);
        sums[bag] += 1 + word % 3;
      }
    }
    return sums;
  }

  /// Returns an arbitrary 64-bit number for each word.
  private static long word(int number) {
    return (number + 1) * 0x9e3779b97f4a7c15L;
  }
}
