// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.comm.CommException;
import io.weft.kv.KvConfig;
import io.weft.kv.KvTable;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.observer.ObservedOperation;
import io.weft.observer.ObservedOperation.Service;
import io.weft.observer.OperationObserver;
import io.weft.tensorflow.IndexedSlices;
import io.weft.tensorflow.TensorViews;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// Checks ops over the rows of a table in TensorFlow's own sessions.
@Timeout(120)
class WeftEmbeddingTest {

  private static final int WIDTH = 2;

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void pushedRowsAreLookedUpInAnyShapeAndOrder(String transport) {
    try (var job = new EmbeddingJob(transport, 2, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table =
                store.register(TableSpec.rows("t", WIDTH).with(Consistency.asynchronous()));
            table.push(new long[] {-7, 3, Long.MAX_VALUE}, new float[] {1, 2, 3, 4, 5, 6}).await();
            try (var embedding = WeftEmbedding.of(weft, table);
                Graph graph = new Graph()) {
              Ops tf = Ops.create(graph);
              var ids = tf.constant(new long[][] {{3, -7, 3}, {9, Long.MAX_VALUE, -7}});
              Lookup found = embedding.lookup(tf, ids);
              assertThat(found.rows().asOutput().shape()).isEqualTo(Shape.of(2, 3, WIDTH));
              try (Session session = new Session(graph);
                  Result result = session.runner().fetch(found.rows()).run()) {
                assertThat(floats(result, 0)).containsExactly(3, 4, 1, 2, 3, 4, 0, 0, 5, 6, 1, 2);
              }
            }
            return true;
          });
    }
  }

  @Test
  void gradientsOfEqualIdsAreAddedAndLookupsOfOneTableArePushedTogether() {
    try (var job = new EmbeddingJob("inproc", 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", WIDTH).withRule("sgd:lr=0.5"));
            try (var embedding = WeftEmbedding.of(weft, table);
                Graph graph = new Graph()) {
              Ops tf = Ops.create(graph);
              Lookup some = embedding.lookup(tf, tf.constant(new long[] {5, 6, 5}));
              Lookup more = embedding.lookup(tf, tf.constant(new long[] {6}));
              Operand<TFloat32> loss =
                  tf.math.add(
                      tf.reduceSum(some.rows(), tf.constant(new int[] {0, 1})),
                      tf.math.mul(
                          tf.constant(10f),
                          tf.reduceSum(more.rows(), tf.constant(new int[] {0, 1}))));
              var push = embedding.push(tf, embedding.gradients(tf, loss, some, more));
              try (Session session = new Session(graph)) {
                session.runner().addTarget(push).run().close();
              }
              embedding.flush();
              float[] rows = new float[6];
              table.pull(new long[] {5, 6, 7}, rows).await();
              assertThat(rows).containsExactly(-1, -1, -5.5f, -5.5f, 0, 0);
            }
            return true;
          });
    }
  }

  /// Trains two tables by lookups in each and by lookups in both: equal rows, and a request for
  /// each shard instead of one for each table and shard.
  @Test
  void aLookupInSeveralTablesEqualsALookupInEach() {
    float[][] results = new float[2][];
    int[] requests = new int[2];
    for (int run = 0; run < 2; run++) {
      int now = run;
      var pulls = new AtomicInteger();
      try (var job = new EmbeddingJob("tcp", 1, 1, it -> it.set(KvConfig.SHARDS, "1"))) {
        job.observe(
            0,
            new OperationObserver() {
              @Override
              public void ended(ObservedOperation it, @Nullable CommException failure, long nanos) {
                if (it.service() == Service.KV_SERVER && it.name().startsWith("pull")) {
                  pulls.incrementAndGet();
                }
              }
            });
        job.onWorkers(
            (store, weft) -> {
              TableSpec spec =
                  TableSpec.rows("users", WIDTH)
                      .withRule("adagrad:lr=0.5")
                      .withInitial("uniform", 3)
                      .with(Consistency.asynchronous());
              KvTable users = store.register(spec);
              KvTable items = store.register(TableSpec.rows("items", 3).withRule("sgd:lr=1"));
              try (var first = WeftEmbedding.of(weft, users);
                  var second = WeftEmbedding.of(weft, items);
                  Graph graph = new Graph()) {
                Ops tf = Ops.create(graph);
                var some = tf.constant(new long[][] {{3, -7, 3}, {9, 5, -7}});
                var more = tf.constant(new long[] {4, 4});
                List<Lookup> found =
                    now == 0
                        ? List.of(first.lookup(tf, some), second.lookup(tf, more))
                        : WeftEmbedding.lookupAll(tf, List.of(first, second), List.of(some, more));
                assertThat(found.get(0).rows().asOutput().shape()).isEqualTo(Shape.of(2, 3, WIDTH));
                assertThat(found.get(1).rows().asOutput().shape()).isEqualTo(Shape.of(2, 3));
                Operand<TFloat32> loss =
                    tf.math.add(
                        tf.reduceSum(
                            tf.math.square(found.get(0).rows()), tf.constant(new int[] {0, 1, 2})),
                        tf.reduceSum(found.get(1).rows(), tf.constant(new int[] {0, 1})));
                var push = first.push(tf, first.gradients(tf, loss, found.get(0)));
                var pushToo = second.push(tf, second.gradients(tf, loss, found.get(1)));
                try (Session session = new Session(graph)) {
                  for (int step = 0; step < 5; step++) {
                    session.runner().addTarget(push).addTarget(pushToo).run().close();
                    first.flush();
                    second.flush();
                  }
                  requests[now] = pulls.get();
                  assertThat(first.pulls()).isEqualTo(5);
                }
                float[] rows = new float[4 * WIDTH + 3];
                users
                    .pull(
                        users.keys(3, -7, 9, 5), MemorySegment.ofArray(rows).asSlice(0, 16 * WIDTH))
                    .await();
                items.pull(items.keys(4), MemorySegment.ofArray(rows).asSlice(16 * WIDTH)).await();
                results[now] = rows;
                assertThatIllegalArgumentException()
                    .isThrownBy(() -> WeftEmbedding.lookupAll(tf, List.of(first), List.of()))
                    .withMessageContaining("1 embeddings of 0 operands");
              }
              return true;
            });
      }
    }
    assertThat(results[1]).isEqualTo(results[0]);
    assertThat(results[1][4 * WIDTH]).isEqualTo(-10);
    assertThat(requests).containsExactly(10, 5);
  }

  @Test
  void stalenessOfAnAsynchronousTableIsCounted() {
    try (var job = new EmbeddingJob("inproc", 1, 2)) {
      List<Long> counted =
          job.onWorkers(
              (store, weft) -> {
                KvTable table =
                    store.register(TableSpec.rows("t", WIDTH).with(Consistency.asynchronous()));
                try (var embedding = WeftEmbedding.of(weft, table)) {
                  if (store.workers().rank() == 0) {
                    for (int step = 0; step < 3; step++) {
                      embedding.clock();
                    }
                    table.pull(new long[] {1}, new float[WIDTH]).await();
                  }
                  store.barrier();
                  return table.counts().staleness();
                }
              });
      assertThat(counted).containsExactly(3L, 0L);
    }
  }

  @ParameterizedTest
  @EnumSource
  void bagsAreCombinedAndTheirGradientsReachEachRow(Combiner combiner) {
    float[] weights =
        switch (combiner) {
          case SUM -> new float[] {1, 1};
          case MEAN -> new float[] {1, 0.5f};
          case SQRTN -> new float[] {1, (float) (1 / Math.sqrt(2))};
        };
    try (var job = new EmbeddingJob("inproc", 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table =
                store.register(
                    TableSpec.rows("t", 1).withRule("sgd:lr=1").with(Consistency.asynchronous()));
            table.push(new long[] {1, 2, 3}, new float[] {-10, -20, -30}).await();
            try (var embedding = WeftEmbedding.of(weft, table);
                Graph graph = new Graph()) {
              Ops tf = Ops.create(graph);
              Lookup found = embedding.lookup(tf, tf.constant(new long[] {3, 1, 2}));
              // Bags: {3}, {}, {1, 2}, {}.
              var byOffsets =
                  WeftEmbedding.combine(tf, found, tf.constant(new long[] {0, 1, 1, 3}), combiner);
              var sparse =
                  WeftEmbedding.combineSparse(
                      tf,
                      found,
                      tf.constant(new long[][] {{0, 0}, {2, 0}, {2, 5}}),
                      tf.constant(4L),
                      combiner);
              Operand<TFloat32> loss =
                  tf.reduceSum(
                      tf.math.mul(byOffsets, tf.constant(new float[][] {{1}, {5}, {2}, {5}})),
                      tf.constant(new int[] {0, 1}));
              var push = embedding.push(tf, embedding.gradients(tf, loss, found));
              try (Session session = new Session(graph);
                  Result result =
                      session.runner().fetch(byOffsets).fetch(sparse).addTarget(push).run()) {
                float both = weights[1] * 30;
                assertThat(floats(result, 0)).containsExactly(30, 0, both, 0);
                assertThat(floats(result, 1)).containsExactly(30, 0, both, 0);
              }
              embedding.flush();
              float[] rows = new float[3];
              table.pull(new long[] {1, 2, 3}, rows).await();
              float each = 2 * weights[1];
              assertThat(rows).containsExactly(10 - each, 20 - each, 30 - 1);
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @EnumSource
  void weightedBagsOfLimitedRowsHaveTheirGradients(Combiner combiner) {
    // The row of key 2 has norm 5 and is limited to 2.5. The weights of the only bag are 1 and 3.
    float divisor =
        switch (combiner) {
          case SUM -> 1;
          case MEAN -> 4;
          case SQRTN -> (float) Math.sqrt(10);
        };
    try (var job = new EmbeddingJob("inproc", 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table =
                store.register(
                    TableSpec.rows("t", WIDTH)
                        .withRule("sgd:lr=1")
                        .with(Consistency.asynchronous()));
            table.push(new long[] {1, 2}, new float[] {-1, 0, -3, -4}).await();
            try (var embedding = WeftEmbedding.of(weft, table);
                Graph graph = new Graph()) {
              Ops tf = Ops.create(graph);
              Lookup found = embedding.lookup(tf, tf.constant(new long[] {1, 2}));
              BagOptions options =
                  BagOptions.of(combiner)
                      .withWeights(tf.constant(new float[] {1, 3}))
                      .withLargestNorm(2.5f);
              var bags = WeftEmbedding.combine(tf, found, tf.constant(new long[] {0, 2}), options);
              Operand<TFloat32> loss =
                  tf.reduceSum(
                      tf.math.mul(bags, tf.constant(new float[][] {{1, 0}, {7, 7}})),
                      tf.constant(new int[] {0, 1}));
              var push = embedding.push(tf, embedding.gradients(tf, loss, found));
              try (Session session = new Session(graph);
                  Result result = session.runner().fetch(bags).addTarget(push).run()) {
                float[] sums = floats(result, 0);
                assertThat(sums[0]).isCloseTo((1 + 3 * 1.5f) / divisor, within(1e-5f));
                assertThat(sums[1]).isCloseTo(3 * 2 / divisor, within(1e-5f));
                assertThat(sums).endsWith(0, 0).hasSize(4);
              }
              embedding.flush();
              float[] rows = new float[4];
              table.pull(new long[] {1, 2}, rows).await();
              assertThat(rows[0]).isCloseTo(1 - 1 / divisor, within(1e-5f));
              assertThat(rows[1]).isCloseTo(0, within(1e-5f));
              // The derivative of 2.5 x / |x| at (3, 4) with respect to the first element.
              assertThat(rows[2])
                  .isCloseTo(3 - 3 * 2.5f * (1 / 5f - 9 / 125f) / divisor, within(1e-5f));
              assertThat(rows[3]).isCloseTo(4 + 3 * 2.5f * 12 / 125f / divisor, within(1e-5f));
            }
            return true;
          });
    }
  }

  @Test
  void aLargestNormMustBePositive() {
    for (float wrong : new float[] {0, -1, Float.NaN}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> BagOptions.of(Combiner.SUM).withLargestNorm(wrong))
          .withMessageContaining("largest norm of " + wrong);
    }
  }

  @Test
  void prefetchedRowsHaveTheValuesOfTheirRequestTime() {
    try (var job = new EmbeddingJob("inproc", 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 1).with(Consistency.asynchronous()));
            try (var embedding = WeftEmbedding.of(weft, table);
                Graph graph = new Graph()) {
              Ops tf = Ops.create(graph);
              Placeholder<TInt64> ids =
                  tf.placeholder(TInt64.class, Placeholder.shape(Shape.of(Shape.UNKNOWN_SIZE)));
              Operand<TFloat32> rows = embedding.lookup(tf, ids).rows();
              var ahead = embedding.prefetch(tf, tf.math.add(ids, tf.constant(1L)));
              try (Session session = new Session(graph);
                  TInt64 first = TInt64.vectorOf(1, 2);
                  TInt64 second = TInt64.vectorOf(2, 3)) {
                session.runner().feed(ids, first).addTarget(ahead).run().close();
                table.push(new long[] {2, 3}, new float[] {8, 9}).await();
                for (float[] expected : new float[][] {{0, 0}, {8, 9}}) {
                  try (Result result = session.runner().feed(ids, second).fetch(rows).run()) {
                    assertThat(floats(result, 0)).containsExactly(expected);
                  }
                }
                assertThat(embedding.prefetched()).isEqualTo(1);
                for (int i = 0; i < 3 * EmbeddingRows.MOST_AHEAD; i++) {
                  embedding.prefetch(i, i + 1);
                }
              }
            }
            return true;
          });
    }
  }

  @Test
  void aSynchronousTableRefusesToPrefetch() {
    try (var job = new EmbeddingJob("inproc", 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 1));
            try (var embedding = WeftEmbedding.of(weft, table)) {
              assertThatThrownBy(() -> embedding.prefetch(1))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("'t' is synchronous");
            }
            return true;
          });
    }
  }

  @Test
  void invalidGradientsAndRefusedPushesFailTheRun() {
    try (var job = new EmbeddingJob("inproc", 1, 1, it -> it.set(KvConfig.MEMORY, "1M"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 2).with(TableSpec.Checks.FINITE));
            try (var embedding = WeftEmbedding.of(weft, table);
                Graph graph = new Graph()) {
              Ops tf = Ops.create(graph);
              var short_ =
                  embedding.push(
                      tf,
                      new IndexedSlices<>(
                          tf.constant(new float[][] {{1, 2}}), tf.constant(new long[] {1, 2})));
              var nan =
                  embedding.push(
                      tf,
                      new IndexedSlices<>(
                          tf.constant(new float[][] {{1, Float.NaN}}),
                          tf.constant(new long[] {1})));
              long[] many = LongStream.range(0, 200_000).toArray();
              var large =
                  embedding.push(
                      tf,
                      new IndexedSlices<>(
                          tf.zeros(tf.constant(new long[] {many.length, 2}), TFloat32.class),
                          tf.constant(many)));
              Operand<TFloat32> rows = embedding.lookup(tf, tf.constant(new long[] {1})).rows();
              try (Session session = new Session(graph)) {
                assertThatThrownBy(() -> session.runner().addTarget(short_).run())
                    .hasMessageContaining("push to table 't' on rank 1")
                    .hasMessageContaining("8 bytes for 2 keys of 2 floats, expected 16");
                assertThatThrownBy(() -> session.runner().addTarget(nan).run())
                    .hasMessageContaining("not finite");
                session.runner().fetch(rows).run().close();
                session.runner().addTarget(large).run().close();
                assertThatThrownBy(embedding::flush).hasMessageContaining("memory budget");
                assertThatThrownBy(() -> session.runner().fetch(rows).run())
                    .hasMessageContaining("memory budget");
              }
            }
            return true;
          });
    }
  }

  static float[] floats(Result result, int index) {
    return TensorViews.of(result.get(index)).data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
  }
}
