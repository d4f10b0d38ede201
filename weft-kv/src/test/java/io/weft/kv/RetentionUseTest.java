// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.TableSpec;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that rows that are pulled or grow are kept, and that a mirror keeps the same rows.
@Timeout(60)
class RetentionUseTest {

  private static final long[] PULLED = LongStream.range(0, 40).toArray();
  private static final long[] PUSHED = LongStream.range(1000, 1010).toArray();
  private static final long[] IDLE = LongStream.range(2000, 2040).toArray();

  private static TableSpec spec(Retention retention) {
    return TableSpec.rows("t", 1).with(Consistency.asynchronous()).with(retention);
  }

  private static float[] filled(int length, float value) {
    float[] values = new float[length];
    Arrays.fill(values, value);
    return values;
  }

  private static float[] pull(KvTable table, long[] keys) throws Exception {
    float[] pulled = new float[keys.length];
    table.pull(keys, pulled).await();
    return pulled;
  }

  /// Pulls some rows and pushes to others, `pushes` times. The idle rows are not used.
  private static void use(KvTable table, int pushes) throws Exception {
    for (int i = 0; i < pushes; i++) {
      pull(table, PULLED);
      table.push(PUSHED, filled(PUSHED.length, 1)).await();
    }
  }

  private static void begin(KvTable table) throws Exception {
    table.push(PULLED, filled(PULLED.length, 5)).await();
    table.push(IDLE, filled(IDLE.length, 5)).await();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void aRowPulledInEachStepIsKept(int shards) throws Exception {
    try (KvJob job =
        new KvJob("inproc", 2, KvOptions.servers(1), it -> it.set(KvConfig.SHARDS, "" + shards))) {
      KvTable table = job.member(1).worker().register(spec(Retention.ALL.evictedAfter(20)));
      begin(table);
      use(table, 120);
      assertThat(table.statistics().await().rows()).isEqualTo(PULLED.length + PUSHED.length);
      assertThat(pull(table, PULLED)).containsOnly(5);
      assertThat(pull(table, IDLE)).containsOnly(0);
    }
  }

  @Test
  void aRowThatGrowsIsKeptAndASmallRowIsEvicted() throws Exception {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      KvTable table = job.member(1).worker().register(spec(Retention.ALL.evictedBelow(0.5, 20)));
      long[] grows = {1};
      long[] stays = {2};
      table.push(stays, filled(1, 0.1f)).await();
      for (int i = 0; i < 60; i++) {
        table
            .push(i % 10 == 0 ? grows : PUSHED, filled(i % 10 == 0 ? 1 : PUSHED.length, 0.1f))
            .await();
      }
      assertThat(pull(table, grows)[0]).isBetween(0.59f, 0.61f);
      assertThat(pull(table, stays)).containsOnly(0);
      assertThat(table.statistics().await().rows()).isEqualTo(1 + PUSHED.length);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0})
  void aMirrorKeepsPulledRowsAndDropsEvictedRows(int staleness) throws Exception {
    TableSpec spec =
        TableSpec.rows("t", 1)
            .with(new Consistency(staleness, 0))
            .with(Retention.ALL.evictedAfter(20));
    try (KvJob job =
        new KvJob(
            "inproc", 3, KvOptions.servers(2).withMirrors(), it -> it.set(KvConfig.SHARDS, "2"))) {
      KvTable table = job.member(2).worker().register(spec);
      begin(table);
      use(table, 120);
      job.job().ranks().get(0).close();
      assertThat(pull(table, PULLED)).containsOnly(5);
      assertThat(pull(table, IDLE)).containsOnly(0);
      assertThat(table.statistics().await().rows()).isEqualTo(PULLED.length + PUSHED.length);
      // The new primary did not see the earlier pulls. It must not evict the rows that they used.
      table.push(PUSHED, filled(PUSHED.length, 1)).await();
      assertThat(pull(table, PULLED)).containsOnly(5);
      assertThat(pull(table, PUSHED)).containsOnly(121);
    }
  }

  @Test
  void rowsRestoredFromACheckpointCountAsUsed(@TempDir Path directory) throws Exception {
    TableSpec spec = spec(Retention.ALL.evictedAfter(20));
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      KvTable table = job.member(1).worker().register(spec);
      begin(table);
      use(table, 60);
      assertThat(job.member(1).worker().checkpoint(directory).rows())
          .isEqualTo(PULLED.length + PUSHED.length);
    }
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      KvTable table = job.member(1).worker().register(spec);
      assertThat(job.member(1).worker().restore(CheckpointOptions.in(directory))).isPresent();
      use(table, 1);
      assertThat(pull(table, PULLED)).containsOnly(5);
      use(table, 60);
      assertThat(pull(table, PULLED)).containsOnly(5);
    }
  }
}
