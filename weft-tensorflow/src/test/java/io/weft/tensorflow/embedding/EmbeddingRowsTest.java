// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.kv.KvTable;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EmbeddingRowsTest {

  @Test
  void concurrentPrefetchesNeverExceedTheBound() {
    int threads = 8;
    int each = 4;
    try (var job = new EmbeddingJob("inproc", 1, 1)) {
      List<Long> found =
          job.onWorkers(
              (store, weft) -> {
                KvTable table =
                    store.register(TableSpec.rows("t", 4).with(Consistency.asynchronous()));
                var rows = new EmbeddingRows(weft, table, 1);
                var together = new CyclicBarrier(threads);
                try (var workers = Executors.newFixedThreadPool(threads)) {
                  List<Future<?>> all = new ArrayList<>();
                  for (int thread = 0; thread < threads; thread++) {
                    long first = (long) thread * each;
                    all.add(
                        workers.submit(
                            () -> {
                              for (long at = first; at < first + each; at++) {
                                var unused = together.await(60, TimeUnit.SECONDS);
                                rows.prefetch(new long[] {at});
                              }
                              return true;
                            }));
                  }
                  for (Future<?> one : all) {
                    assertThat(one.get(60, TimeUnit.SECONDS)).isEqualTo(true);
                  }
                }
                for (long id = 0; id < (long) threads * each; id++) {
                  EmbeddingRows.Prefetched prefetched = rows.take(table.keys(new long[] {id}));
                  if (prefetched != null) {
                    var unused = prefetched.handle().await();
                    prefetched.memory().close();
                  }
                }
                return rows.used();
              });
      assertThat(found).containsExactly((long) EmbeddingRows.MOST_AHEAD);
    }
  }
}
