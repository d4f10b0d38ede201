// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.Weft;
import io.weft.kv.KvTable;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// Checks a small network over embeddings. Two workers and two servers are compared with one
/// process that has the whole table as a variable.
@Timeout(240)
class EmbeddingTrainingTest {

  private static final int STEPS = 30;
  private static final int BATCH = 16;
  private static final int COLUMNS = 3;
  private static final int IDS = 40;
  private static final int WIDTH = 4;
  private static final float RATE = 0.5f;
  private static final long SEED = 11;

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm"})
  void twoSynchronousWorkersHaveTheLossesOfOneProcessWithTheWholeTable(String transport) {
    double[] reference = reference();
    try (var job = new EmbeddingJob(transport, 2, 2)) {
      List<double[]> losses =
          job.onWorkers((store, weft) -> train(store, weft, Consistency.synchronous()));
      for (int step = 0; step < STEPS; step++) {
        double mean = (losses.get(0)[step] + losses.get(1)[step]) / 2;
        assertThat(mean).as("step " + step).isCloseTo(reference[step], within(1e-5));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, Consistency.ASYNCHRONOUS})
  void workersWithStaleRowsReachACloseLoss(int staleness) {
    double[] reference = reference();
    try (var job = new EmbeddingJob("inproc", 2, 2)) {
      List<double[]> losses =
          job.onWorkers((store, weft) -> train(store, weft, new Consistency(staleness, 0)));
      double last = reference[STEPS - 1];
      double first = reference[0];
      for (double[] worker : losses) {
        double end = Arrays.stream(worker, STEPS - 5, STEPS).average().orElseThrow();
        assertThat(end).isLessThan(last + (first - last) / 4);
      }
    }
  }

  /// Trains a worker and returns its losses by step. The weights behind the embeddings are
  /// constant, so only the table learns.
  private static double[] train(KvWorker store, Weft weft, Consistency consistency)
      throws Exception {
    KvTable table =
        store.register(
            TableSpec.rows("rows", WIDTH)
                .withRule("sgd:lr=" + RATE)
                .withInitial("zero", 0)
                .with(consistency));
    int worker = store.workers().rank();
    int share = BATCH / 2;
    double[] losses = new double[STEPS];
    try (var embedding = WeftEmbedding.of(weft, table);
        Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      Placeholder<TInt64> ids =
          tf.placeholder(TInt64.class, Placeholder.shape(Shape.of(share, COLUMNS)));
      Placeholder<TFloat32> wanted = tf.placeholder(TFloat32.class);
      Lookup found = embedding.lookup(tf, ids);
      Operand<TFloat32> loss = loss(tf, found.rows(), wanted);
      // Gradients of both workers' means are added. The loss is the loss of the whole batch.
      Operand<TFloat32> half = tf.math.mul(loss, tf.constant(0.5f));
      var push = embedding.push(tf, embedding.gradients(tf, half, found));
      try (Session session = new Session(graph)) {
        for (int step = 0; step < STEPS; step++) {
          Batch batch = Batch.of(step);
          try (TInt64 mine = batch.ids(worker * share, share);
              TFloat32 labels = batch.labels(worker * share, share);
              Result result =
                  session
                      .runner()
                      .feed(ids, mine)
                      .feed(wanted, labels)
                      .fetch(loss)
                      .addTarget(push)
                      .run()) {
            losses[step] = ((TFloat32) result.get(0)).getFloat();
          }
          if (!consistency.isSynchronous()) {
            embedding.prefetch(Batch.of(step + 1).rows(worker * share, share));
          }
          embedding.clock();
        }
      }
      assertThat(embedding.prefetched()).isEqualTo(consistency.isSynchronous() ? 0 : STEPS - 1);
      assertThat(embedding.pushes()).isEqualTo(STEPS);
      embedding.flush();
      store.barrier();
    }
    return losses;
  }

  /// Trains in one process with the table as a variable and TensorFlow's own gradient.
  private static double[] reference() {
    double[] losses = new double[STEPS];
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      var table = tf.variable(Shape.of(IDS, WIDTH), TFloat32.class);
      Op zero = tf.assign(table, tf.zeros(tf.constant(new int[] {IDS, WIDTH}), TFloat32.class));
      Placeholder<TInt64> ids = tf.placeholder(TInt64.class);
      Placeholder<TFloat32> wanted = tf.placeholder(TFloat32.class);
      Operand<TFloat32> rows = tf.gather(table, ids, tf.constant(0));
      Operand<TFloat32> loss = loss(tf, rows, wanted);
      Output<?> gradient =
          graph.addGradients(loss.asOutput(), new Output<?>[] {table.asOutput()})[0];
      Op update =
          tf.train.applyGradientDescent(table, tf.constant(RATE), gradient.expect(TFloat32.class));
      try (Session session = new Session(graph)) {
        session.runner().addTarget(zero).run().close();
        for (int step = 0; step < STEPS; step++) {
          Batch batch = Batch.of(step);
          try (TInt64 all = batch.ids(0, BATCH);
              TFloat32 labels = batch.labels(0, BATCH)) {
            try (Result result =
                session.runner().feed(ids, all).feed(wanted, labels).fetch(loss).run()) {
              losses[step] = ((TFloat32) result.get(0)).getFloat();
            }
            session.runner().feed(ids, all).feed(wanted, labels).addTarget(update).run().close();
          }
        }
      }
    }
    return losses;
  }

  /// Returns the squared error of a fixed projection of the rows, averaged over the batch.
  private static Operand<TFloat32> loss(Ops tf, Operand<TFloat32> rows, Operand<TFloat32> wanted) {
    var flat = tf.reshape(rows, tf.constant(new int[] {-1, COLUMNS * WIDTH}));
    float[][] projection = new float[COLUMNS * WIDTH][1];
    var random = new Random(SEED);
    for (float[] row : projection) {
      row[0] = (float) random.nextGaussian();
    }
    var score =
        tf.reshape(tf.linalg.matMul(flat, tf.constant(projection)), tf.constant(new int[] {-1}));
    return tf.math.mean(tf.math.square(tf.math.sub(score, wanted)), tf.constant(new int[] {0}));
  }

  /// The batch of a step: ids, of which few are frequent, and labels that depend on the ids.
  private record Batch(long[][] ids, float[] labels) {

    static Batch of(int step) {
      var random = new Random(SEED * 1000 + step);
      long[][] ids = new long[BATCH][COLUMNS];
      float[] labels = new float[BATCH];
      for (int i = 0; i < BATCH; i++) {
        for (int c = 0; c < COLUMNS; c++) {
          ids[i][c] = (long) (IDS * random.nextDouble() * random.nextDouble());
          labels[i] += ids[i][c] % 3 - 1;
        }
      }
      return new Batch(ids, labels);
    }

    long[] rows(int first, int count) {
      return Arrays.stream(ids, first, first + count).flatMapToLong(Arrays::stream).toArray();
    }

    TInt64 ids(int first, int count) {
      var tensor = TInt64.tensorOf(Shape.of(count, COLUMNS));
      for (int i = 0; i < count; i++) {
        for (int c = 0; c < COLUMNS; c++) {
          tensor.setLong(ids[first + i][c], i, c);
        }
      }
      return tensor;
    }

    TFloat32 labels(int first, int count) {
      return TFloat32.vectorOf(Arrays.copyOfRange(labels, first, first + count));
    }
  }
}
