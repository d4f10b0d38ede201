// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks which keys get rows, which rows are evicted, and the statistics of the shards.
@Timeout(60)
class RetentionTest {

  private static final long[] KEYS = LongStream.range(0, 1000).map(it -> it * 31).toArray();

  private static TableSpec spec(Retention retention) {
    return TableSpec.rows("t", 2).with(Consistency.asynchronous()).with(retention);
  }

  private static float[] ones(int keys) {
    float[] values = new float[2 * keys];
    Arrays.fill(values, 1);
    return values;
  }

  @Test
  void unusedRowsAreEvictedAndPulledAsZeros() {
    try (KvJob job =
        new KvJob("inproc", 3, KvOptions.servers(2), it -> it.set(KvConfig.SHARDS, "4"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(spec(Retention.ALL.evictedAfter(5)));
            table.push(KEYS, ones(KEYS.length)).await();
            TableStatistics full = table.statistics().await();
            assertThat(full.rows()).isEqualTo(1000);
            assertThat(full.bytesPerRow()).isBetween(16.0, 4000.0);
            Map<Integer, TableStatistics> servers = table.statisticsByServer().await();
            assertThat(servers).containsOnlyKeys(0, 1);
            assertThat(servers.values()).allSatisfy(it -> assertThat(it.rows()).isPositive());
            assertThat(servers.get(0).plus(servers.get(1))).isEqualTo(full);
            long[] used = Arrays.copyOf(KEYS, 100);
            for (int i = 0; i < 20; i++) {
              table.push(used, ones(used.length)).await();
            }
            TableStatistics left = table.statistics().await();
            assertThat(left.rows()).isEqualTo(100);
            assertThat(left.evicted()).isEqualTo(900);
            assertThat(left.made()).isEqualTo(1000);
            float[] pulled = new float[2 * KEYS.length];
            table.pull(KEYS, pulled).await();
            for (int i = 0; i < pulled.length; i++) {
              assertThat(pulled[i]).isEqualTo(i < 200 ? 21 : 0);
            }
          });
    }
  }

  @Test
  void rowsOfSmallNormAreEvicted() {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(spec(Retention.ALL.evictedBelow(0.5, 1)));
            float[] values = ones(KEYS.length);
            Arrays.fill(values, 0, 1000, 0.125f);
            table.push(KEYS, values).await();
            for (int i = 0; i < 5; i++) { // each push checks some of the rows
              table.push(new long[] {KEYS[999]}, ones(1)).await();
            }
            assertThat(table.statistics().await().rows()).isEqualTo(500);
          });
    }
  }

  @Test
  void rarelyPushedKeysGetNoRow() {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(spec(Retention.ALL.admittedAfter(3)));
            for (int i = 0; i < 4; i++) {
              table.push(new long[] {7}, ones(1)).await();
            }
            table.push(new long[] {8}, ones(1)).await();
            float[] pulled = new float[4];
            table.pull(new long[] {7, 8}, pulled).await();
            assertThat(pulled).containsExactly(2, 2, 0, 0);
            assertThat(table.statistics().await().declined()).isEqualTo(3);
          });
    }
  }

  @Test
  void aSpecificationIsReadAsItWasWrittenAndWrongRetentionsAreRefused() {
    TableSpec spec = spec(new Retention(3, 1L << 40, 0.25, 1L << 33, 7));
    assertThat(TableSpec.parse(spec.text()).text()).isEqualTo(spec.text());
    assertThatThrownBy(() -> TableSpec.tensor("w", 9).with(Retention.ALL.evictedAfter(1)))
        .hasMessageContaining("tensor 'w'");
    assertThatThrownBy(() -> Retention.ALL.admittedAfter(256)).hasMessageContaining("1 to 255");
    assertThatThrownBy(() -> Retention.ALL.evictedBelow(Double.NaN)).hasMessageContaining("NaN");
  }

  @Test
  void aTensorHasStatistics() {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTensor tensor = store.registerTensor(TableSpec.tensor("w", 1000));
            tensor.push(MemorySegment.ofArray(new float[1000])).await();
            assertThat(tensor.statistics().await().bytes()).isBetween(4000L, 8000L);
          });
    }
  }
}
