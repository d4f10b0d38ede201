// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that a push over several shards is executed on all of them or on none, or that its
/// synchronous table ends for all workers.
@Timeout(60)
class WholePushTest {

  private static final long[] KEYS = LongStream.range(0, 100).toArray();
  private static final Duration SHORT = Duration.ofSeconds(3);

  private static KvJob job(int servers, KvOptions options) {
    return new KvJob("inproc", servers + 2, options, it -> it.set(KvConfig.SHARDS, "8"));
  }

  /// Returns a job whose first worker has the deadline `SHORT`.
  private static KvJob impatient(int servers) {
    KvOptions options = KvOptions.servers(servers);
    return new KvJob(
        "inproc",
        servers + 2,
        options,
        it -> it.set(KvConfig.SHARDS, "8"),
        rank -> rank == servers ? options.withDeadline(SHORT) : options);
  }

  private static float[] filled(int length, float value) {
    float[] values = new float[length];
    Arrays.fill(values, value);
    return values;
  }

  /// Pushes once from both workers and checks that both pull the sum.
  private static void continues(KvTable first, KvTable second, float sum) throws Exception {
    Handle<Void> one = first.push(KEYS, filled(KEYS.length, 1));
    second.push(KEYS, filled(KEYS.length, 1)).await();
    one.await();
    float[] pulled = new float[KEYS.length];
    for (KvTable each : new KvTable[] {first, second}) {
      each.pull(KEYS, pulled).await();
      assertThat(pulled).containsOnly(sum);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aNonFiniteValueIsRefusedBeforeAnyShardHasIt(int servers) throws Exception {
    TableSpec spec = TableSpec.rows("t", 1).with(TableSpec.Checks.FINITE);
    try (KvJob job = job(servers, KvOptions.servers(servers))) {
      KvTable first = job.member(servers).worker().register(spec);
      KvTable second = job.member(servers + 1).worker().register(spec);
      float[] values = filled(KEYS.length, 1);
      values[61] = Float.NaN;
      assertThatThrownBy(() -> first.push(KEYS, values))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("value NaN of key 61, column 0, is not finite; nothing was pushed");
      long[] twice = {5, 6, 5};
      float[] large = filled(3, Float.MAX_VALUE);
      assertThatThrownBy(() -> first.push(twice, large))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("sum Infinity of key 5");
      continues(first, second, 2);
      continues(first, second, 4);
    }
  }

  @Test
  void tensorsInPartsAndValuesOfAnyLengthRefuseNonFiniteValues() throws Exception {
    try (KvJob job = job(1, KvOptions.servers(1))) {
      KvWorker worker = job.member(1).worker();
      KvTensor tensor =
          worker.registerTensor(
              TableSpec.tensor("w", 5000)
                  .with(Slicer.parts(1024))
                  .with(TableSpec.Checks.FINITE)
                  .with(Consistency.asynchronous()));
      float[] gradient = filled(5000, 1);
      gradient[4100] = Float.POSITIVE_INFINITY;
      assertThatThrownBy(() -> tensor.push(MemorySegment.ofArray(gradient)))
          .hasMessageContaining("value Infinity of element 4100 is not finite; nothing was sent");
      assertThatThrownBy(() -> tensor.init(MemorySegment.ofArray(gradient)))
          .hasMessageContaining("element 4100");
      KvValues values =
          worker.registerValues(
              TableSpec.values("v", 4)
                  .with(TableSpec.Checks.FINITE)
                  .with(Consistency.asynchronous()));
      assertThatThrownBy(
              () -> values.push(new long[] {7, 8}, new int[] {1, 2}, new float[] {1, 1, Float.NaN}))
          .hasMessageContaining("value NaN of key 8, float 1, is not finite; nothing was pushed");
      float[] pulled = new float[5000];
      tensor.pull(MemorySegment.ofArray(pulled)).await();
      assertThat(pulled).containsOnly(0);
      assertThat(values.lengths(7, 8).await()).containsOnly(0);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aPushThatOnlyOneShardRefusesEndsTheTableForAllWorkers(int servers, @TempDir Path directory)
      throws Exception {
    try (KvJob job = job(servers, KvOptions.servers(servers))) {
      KvWorker one = job.member(servers).worker();
      KvWorker two = job.member(servers + 1).worker();
      KvValues first = one.registerValues(TableSpec.values("v", 4));
      KvValues second = two.registerValues(TableSpec.values("v", 4));
      int[] lengths = new int[KEYS.length];
      Arrays.fill(lengths, 2);
      Handle<Void> pushed = first.push(KEYS, lengths, filled(200, 1));
      second.push(KEYS, lengths, filled(200, 1)).await();
      pushed.await();
      second.push(KEYS, lengths, filled(200, 1)).await();
      Handle<Void> waits = second.pull(KEYS, lengths, new float[200]);
      int[] others = lengths.clone();
      others[40] = 3;
      assertThatThrownBy(() -> first.push(KEYS, others, filled(201, 1)).await())
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("key 40")
          .hasMessageContaining("7 of 8 parts were done, 1 were not")
          .hasMessageContaining("the table has ended");
      assertThatThrownBy(waits::await)
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("the table has ended: rank " + servers + ": PUSH of 100 keys")
          .hasMessageContaining("key 40");
      for (KvValues each : new KvValues[] {first, second}) {
        assertThatThrownBy(() -> each.pull(KEYS, lengths, new float[200]).await())
            .hasMessageContaining("key 40");
        assertThatThrownBy(() -> each.push(KEYS, lengths, new float[200]).await())
            .hasMessageContaining("key 40");
        assertThatThrownBy(() -> each.register().await()).hasMessageContaining("key 40");
      }
      assertThatThrownBy(() -> two.checkpoint(directory)).hasMessageContaining("key 40");
      TableSpec other = TableSpec.rows("u", 1);
      continues(one.register(other), two.register(other), 2);
    }
  }

  @Test
  void aPushThatNoShardHasExecutedMayBePushedAgain() throws Exception {
    try (KvJob job =
        new KvJob("inproc", 3, KvOptions.servers(1), it -> it.set(KvConfig.SHARDS, "1"))) {
      KvValues first = job.member(1).worker().registerValues(TableSpec.values("v", 4));
      KvValues second = job.member(2).worker().registerValues(TableSpec.values("v", 4));
      long[] key = {7};
      Handle<Void> pushed = first.push(key, new int[] {2}, new float[] {1, 1});
      second.push(key, new int[] {2}, new float[] {1, 1}).await();
      pushed.await();
      assertThatThrownBy(() -> first.push(key, new int[] {3}, new float[] {1, 1, 1}).await())
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("no shard has taken the push, which may be pushed again");
      Handle<Void> again = first.push(key, new int[] {2}, new float[] {10, 10});
      second.push(key, new int[] {2}, new float[] {100, 100}).await();
      again.await();
      assertThat(first.pull(key).values()).containsExactly(112, 112);
      assertThat(second.pull(key).values()).containsExactly(112, 112);
    }
  }

  @Test
  void anAsynchronousTableContinuesAndReportsTheExecutedPartsOfAPush() throws Exception {
    try (KvJob job = job(1, KvOptions.servers(1))) {
      KvValues values =
          job.member(1)
              .worker()
              .registerValues(TableSpec.values("v", 4).with(Consistency.asynchronous()));
      values.push(new long[] {40}, new int[] {2}, new float[] {1, 1}).await();
      int[] lengths = new int[KEYS.length];
      Arrays.fill(lengths, 1);
      assertThatThrownBy(() -> values.push(KEYS, lengths, filled(100, 1)).await())
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("key 40")
          .hasMessageContaining("7 of 8 parts were done, 1 were not");
      values.push(new long[] {40}, new int[] {2}, new float[] {1, 1}).await();
      assertThat(values.pull(40).values()).containsExactly(2, 2);
    }
  }

  @Test
  void aPushThatTimedOutMayBePushedAgainWhenTheStragglerArrives() throws Exception {
    int servers = 2;
    TableSpec rows = TableSpec.rows("t", 1);
    TableSpec parts = TableSpec.tensor("w", 5000).with(Slicer.parts(1024));
    try (KvJob job = impatient(2)) {
      KvTable first = job.member(servers).worker().register(rows);
      KvTable second = job.member(servers + 1).worker().register(rows);
      KvTensor tensor = job.member(servers).worker().registerTensor(parts);
      KvTensor others = job.member(servers + 1).worker().registerTensor(parts);
      MemorySegment ones = MemorySegment.ofArray(filled(5000, 1));
      for (int i = 0; i < 2; i++) {
        first.push(KEYS, filled(100, 1)).await();
        tensor.push(ones).await();
      }
      Handle<Void> third = first.push(KEYS, filled(100, 1));
      Handle<Void> part = tensor.push(ones);
      for (Handle<Void> each : List.of(third, part)) {
        assertThatThrownBy(each::await)
            .isInstanceOf(CommException.TimedOut.class)
            .hasMessageContaining("clock 1 lacks the pushes of ranks [" + (servers + 1) + "]")
            .hasMessageContaining("no shard has taken the push, which may be pushed again");
      }
      for (int i = 0; i < 2; i++) {
        second.push(KEYS, filled(100, 1)).await();
        others.push(ones).await();
      }
      continues(first, second, 6);
      Handle<Void> again = tensor.push(ones);
      others.push(ones).await();
      again.await();
      float[] pulled = new float[5000];
      others.pull(MemorySegment.ofArray(pulled)).await();
      assertThat(pulled).containsOnly(6);
    }
  }

  @Test
  void aPushPullThatTimedOutCountsAsAPushWhenTheStragglerArrives() throws Exception {
    TableSpec spec = TableSpec.tensor("w", 5000).with(Slicer.parts(1024));
    try (KvJob job = impatient(1)) {
      KvTensor first = job.member(1).worker().registerTensor(spec);
      KvTensor second = job.member(2).worker().registerTensor(spec);
      MemorySegment ones = MemorySegment.ofArray(filled(5000, 1));
      float[] pulled = new float[5000];
      MemorySegment into = MemorySegment.ofArray(pulled);
      assertThatThrownBy(() -> first.pushPull(ones, into).await())
          .isInstanceOf(CommException.TimedOut.class)
          .hasMessageContaining("lacks the pushes of ranks [2]")
          .hasMessageContaining("this worker's clock 1: do not push it again");
      second.pushPull(ones, into).await();
      assertThat(pulled).containsOnly(2);
      Handle<Void> next = first.push(ones);
      second.pushPull(ones, into).await();
      next.await();
      assertThat(pulled).containsOnly(4);
    }
  }

  @Test
  void aPushThatTimedOutWithAnotherBehindItEndsTheTable() throws Exception {
    TableSpec spec = TableSpec.rows("t", 1);
    try (KvJob job = impatient(1)) {
      KvTable first = job.member(1).worker().register(spec);
      KvTable second = job.member(2).worker().register(spec);
      for (int i = 0; i < 2; i++) {
        first.push(KEYS, filled(100, 1)).await();
      }
      Handle<Void> third = first.push(KEYS, filled(100, 1));
      Handle<Void> fourth = first.push(KEYS, filled(100, 1));
      assertThatThrownBy(third::await)
          .isInstanceOf(CommException.TimedOut.class)
          .hasMessageContaining("the table has ended")
          .hasMessageContaining("the worker had begun the next one");
      assertThatThrownBy(fourth::await).hasMessageContaining("the table has ended");
      assertThatThrownBy(() -> second.push(KEYS, filled(100, 1)).await())
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("the table has ended: rank 1: PUSH of 100 keys of table 't'");
    }
  }

  @Test
  void aMirrorKnowsThatATableHasEnded() throws Exception {
    try (KvJob job = job(3, KvOptions.servers(3).withMirrors())) {
      KvValues first = job.member(3).worker().registerValues(TableSpec.values("v", 4));
      KvValues second = job.member(4).worker().registerValues(TableSpec.values("v", 4));
      int[] lengths = new int[KEYS.length];
      Arrays.fill(lengths, 1);
      Handle<Void> pushed = first.push(KEYS, lengths, filled(100, 1));
      second.push(KEYS, lengths, filled(100, 1)).await();
      pushed.await();
      lengths[40] = 2;
      assertThatThrownBy(() -> first.push(KEYS, lengths, filled(101, 1)).await())
          .hasMessageContaining("the table has ended");
      job.job().ranks().get(0).close();
      // The keys include those of the lost server and those that are copied to the next mirror.
      for (int round = 0; round < 3; round++) {
        for (long key = 0; key < 30; key++) {
          long its = key;
          assertThatThrownBy(() -> second.lengths(its).await())
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("the table has ended");
        }
      }
      TableSpec other = TableSpec.rows("u", 1);
      continues(job.member(3).worker().register(other), job.member(4).worker().register(other), 2);
    }
  }
}
