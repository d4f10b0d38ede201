// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.ValueList;
import io.weft.kv.function.KvChanges;
import io.weft.kv.function.KvFunctions;
import io.weft.kv.function.KvFunctions.Found;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks values of different lengths by key, for which ps-lite has `lens`.
@Timeout(120)
class KvValuesTest {

  private static final int KEYS = 400;
  private static final TableSpec LATER =
      TableSpec.values("v", 5000).with(Consistency.asynchronous());

  @TempDir private Path directory;

  private static KvJob job(String transport, int ranks, int servers) {
    return new KvJob(
        transport, ranks, KvOptions.servers(servers), it -> it.set(KvConfig.SHARDS, "5"));
  }

  /// Returns keys in no order.
  private static long[] keys() {
    long[] keys = new long[KEYS];
    Arrays.setAll(keys, i -> i * 0x9e3779b97f4a7c15L);
    return keys;
  }

  private static int[] lengths() {
    int[] lengths = new int[KEYS];
    Arrays.setAll(lengths, i -> i % 40 == 0 ? 5000 : 1 + i % 7);
    return lengths;
  }

  private static float[] ramp(float scale) {
    float[] values = new float[Arrays.stream(lengths()).sum()];
    for (int i = 0; i < values.length; i++) {
      values[i] = scale * (i % 1000);
    }
    return values;
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void valuesOfDifferentLengthsAddUp(String transport) {
    try (KvJob job = job(transport, 4, 2)) {
      job.onWorkers(
          (store, weft) -> {
            KvValues table = store.registerValues(TableSpec.values("v", 5000));
            assertThat(table.lengths(keys()).await()).containsOnly(0);
            int third = lengths()[0] + lengths()[1] + lengths()[2];
            for (int round = 1; round <= 3; round++) {
              table.push(keys(), lengths(), ramp(weft.rank() - 1)).await();
              KvPairs pulled = table.pull(keys());
              assertThat(pulled.lengths()).isEqualTo(lengths());
              assertThat(pulled.values()).isEqualTo(ramp(3 * round));
              assertThat(pulled.value(3))
                  .containsExactly(
                      Arrays.copyOfRange(ramp(3 * round), third, third + lengths()[3]));
            }
            MemorySegment both = MemorySegment.ofArray(ramp(1));
            table.pushPull(keys(), lengths(), both, both).await();
            assertThat(both.toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(ramp(11));
            assertThat(table.counts().pushes()).isEqualTo(4);
            assertThatIllegalArgumentException()
                .isThrownBy(() -> table.push(new long[] {4, 4}, new int[] {1, 1}, new float[2]))
                .withMessageContaining("key 4 is there twice");
            table.push(new long[0], new int[0], new float[0]).await(); // it begins no clock
            assertThat(table.pull(keys()).values()).isEqualTo(ramp(11));
          });
    }
  }

  @Test
  void eachWorkerPushesOtherKeysAndPullsTheValuesOfAllWorkers() {
    try (KvJob job = job("tcp", 4, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvValues table = store.registerValues(TableSpec.values("v", 10).withRule("sgd:lr=0.5"));
            int mine = weft.rank();
            float[] gradient = new float[mine + 2];
            Arrays.fill(gradient, -mine);
            table.push(new long[] {mine, 100}, new int[] {mine, 2}, gradient).await();
            KvPairs all = table.pull(3, 1, 77, 100, 2);
            assertThat(all.lengths()).containsExactly(3, 1, 0, 2, 2);
            assertThat(all.values()).containsExactly(1.5f, 1.5f, 1.5f, 0.5f, 3, 3, 1, 1);
            assertThat(all.value(2)).isEmpty();
            assertThat(table.statistics().await().rows()).isEqualTo(4);
            assertThat(table.call(KvFunctions.sum()).await()).isEqualTo(13);
            assertThat(table.call(KvFunctions.topK(1)).await())
                .containsExactly(new Found(100, 0, 3));
            store.barrier();
          });
    }
  }

  @Test
  void anotherLengthIsRefusedNamingTheKeyAndOtherRequestsContinue() {
    try (KvJob job = job("tcp", 2, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvValues table = store.registerValues(LATER.with(TableSpec.Checks.FINITE));
            table.push(new long[] {4, 9}, new int[] {2, 3}, new float[] {1, 2, 3, 4, 5}).await();
            assertThatThrownBy(
                    () -> table.push(new long[] {9, 4}, new int[] {2, 2}, new float[4]).await())
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("table 'v'")
                .hasMessageContaining("key 9 has a value of 3 floats, not 2");
            assertThatThrownBy(
                    () -> table.pull(new long[] {4}, new int[] {5}, new float[5]).await())
                .hasMessageContaining("key 4 has a value of 2 floats, not 5");
            float[] wrong = {0, 0, 0, Float.NaN, 0};
            assertThatThrownBy(() -> table.push(new long[] {4, 9}, new int[] {2, 3}, wrong).await())
                .hasMessageContaining("value NaN of key 9, float 1");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> table.push(new long[] {4, 4}, new int[] {2, 2}, new float[4]))
                .withMessageContaining("key 4 is there twice");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> table.push(new long[] {4}, new int[] {5001}, new float[5001]))
                .withMessageContaining("key 4 with a value of 5001 floats");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> table.push(new long[] {4}, new int[] {2}, new float[3]))
                .withMessageContaining("12 bytes for 1 keys with 2 floats, expected 8");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> table.push(new long[] {4}, new int[0], new float[0]))
                .withMessageContaining("0 lengths for 1 keys");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> LATER.with(Retention.ALL.evictedAfter(3)))
                .withMessageContaining("are not evicted");
            assertThatThrownBy(
                    () ->
                        store.registerValues(TableSpec.values("r", 3).withRule("rowwise-adagrad")))
                .hasMessageContaining("needs rows");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> store.register(LATER))
                .withMessageContaining("VALUES");
            assertThat(table.pull(9, 4).values()).containsExactly(3, 4, 5, 1, 2);
          });
    }
  }

  @Test
  void malformedPayloadsAreRefusedBeforeMemoryIsAllocated() throws Exception {
    try (KvJob job = new KvJob("tcp", 2, KvOptions.servers(1))) {
      KvValues table = job.member(1).worker().registerValues(LATER);
      KvHead push = head(KvOp.PUSH, 1);
      KvHead pull = head(KvOp.PULL, 0);
      byte[] right =
          ValueList.write(new long[] {3, 8}, new int[] {1, 2}, 3).toArray(ValueLayout.JAVA_BYTE);
      for (int bytes = 0; bytes < right.length; bytes++) {
        assertThat(RawRequests.ask(job, push, Arrays.copyOf(right, bytes)).text())
            .as("%d bytes", bytes)
            .contains("payload of " + bytes + " bytes");
      }
      byte[] twice = right.clone();
      twice[8] = 8;
      assertThat(RawRequests.ask(job, push, twice).text()).contains("key 8 at 1 comes after 8");
      byte[] huge = right.clone();
      huge[27] = 0x7f; // a length of 2^31 - 2^24 + 1
      assertThat(RawRequests.ask(job, push, huge).text()).contains("expected");
      byte[] none = right.clone();
      none[24] = 0;
      assertThat(RawRequests.ask(job, push, none).text()).contains("key 3 with a value of 0");
      byte[] asks = right.clone();
      asks[4] = 1;
      assertThat(RawRequests.ask(job, push, asks).text()).contains("kind 1");
      byte[] many =
          ValueList.write(new long[] {3}, new int[] {1000}, 0).toArray(ValueLayout.JAVA_BYTE);
      assertThat(RawRequests.ask(job, pull, many).text())
          .contains("4000 bytes to be answered, and room for 0");
      KvHead halves =
          new KvHead(
              KvOp.PUSH,
              new KvHead.Target(0, LATER.id()),
              new KvHead.Progress(1, 1, 0),
              KvHead.Listed.NONE,
              Values.FLOAT16);
      assertThat(RawRequests.ask(job, halves, right).text()).contains("values as FLOAT16");
      assertThat(table.statistics().await().rows()).isZero();
    }
  }

  private static KvHead head(KvOp op, long number) {
    return new KvHead(
        op,
        new KvHead.Target(0, LATER.id()),
        new KvHead.Progress(number, number, 0),
        KvHead.Listed.NONE);
  }

  @Test
  void noPushIsLostOrDoubledWhenServersLeaveInTurn() {
    try (KvJob job =
        new KvJob(
            "tcp", 5, KvOptions.servers(3).withMirrors(), it -> it.set(KvConfig.SHARDS, "4"))) {
      job.onWorkers(
          (store, weft) -> {
            boolean first = weft.rank() == 3;
            KvValues later = store.registerValues(LATER);
            KvValues sync = store.registerValues(TableSpec.values("s", 5000).withRule("momentum"));
            KvTensor alike =
                store.registerTensor(TableSpec.tensor("t", ramp(1).length).withRule("momentum"));
            for (int round = 1; round <= 40; round++) {
              var one = later.push(keys(), lengths(), ramp(1));
              var two = sync.push(keys(), lengths(), ramp(round));
              var three = alike.push(MemorySegment.ofArray(ramp(round)));
              if (first && round == 10) {
                job.job().ranks().get(0).close();
              }
              if (round == 25) {
                // The reply follows when a new mirror has executed the change and all before it.
                later.change(KvChanges.scale(1)).await();
                store.barrier();
              }
              if (first && round == 26) {
                job.job().ranks().get(1).close();
              }
              one.await();
              two.await();
              three.await();
            }
            store.barrier();
            assertThat(later.pull(keys()).values()).isEqualTo(ramp(80));
            float[] expected = new float[ramp(1).length];
            alike.pull(MemorySegment.ofArray(expected)).await();
            assertThat(sync.pull(keys()).values()).isEqualTo(expected);
            store.barrier();
          });
    }
  }

  @Test
  void checkpointsContainValuesAndAreRestoredOnOtherServers() throws Exception {
    float[][] saved = new float[2][];
    try (KvJob job = job("tcp", 3, 2)) {
      job.onWorkers(
          (store, weft) -> {
            KvValues table =
                store.registerValues(TableSpec.values("v", 5000).withRule("adam:lr=0.1"));
            for (int round = 1; round <= 4; round++) {
              // The second checkpoint contains the changes since the first.
              long[] some = round < 3 ? keys() : Arrays.copyOf(keys(), 100);
              int[] lengths = Arrays.copyOf(lengths(), some.length);
              float[] gradient = Arrays.copyOf(ramp(round), Arrays.stream(lengths).sum());
              table.push(some, lengths, gradient).await();
              if (round % 2 == 0) {
                Checkpoint made = store.checkpoint(directory);
                assertThat(made.rows()).isEqualTo(round == 2 ? KEYS : 100);
              }
            }
            saved[0] = table.pull(keys()).values();
            table.push(keys(), lengths(), ramp(1)).await();
            saved[1] = table.pull(keys()).values();
          });
    }
    try (KvJob job =
        new KvJob("inproc", 4, KvOptions.servers(3), it -> it.set(KvConfig.SHARDS, "3"))) {
      job.onWorkers(
          (store, weft) -> {
            KvValues table =
                store.registerValues(TableSpec.values("v", 5000).withRule("adam:lr=0.1"));
            assertThat(store.restore(directory)).isPresent();
            assertThat(table.pull(keys()).lengths()).isEqualTo(lengths());
            assertThat(table.pull(keys()).values()).isEqualTo(saved[0]);
            table.push(keys(), lengths(), ramp(1)).await(); // uses the restored slots
            assertThat(table.pull(keys()).values()).isEqualTo(saved[1]);
          });
    }
  }

  @Test
  void manyPushesInARandomOrderAddUpToTheModel() {
    int workers = 3;
    try (KvJob job = job("inproc", workers + 2, 2)) {
      job.onWorkers(
          (store, weft) -> {
            KvValues table = store.registerValues(LATER);
            long[] all = keys();
            int[] lengths = lengths();
            var random = new Random(weft.rank());
            int[] mine = new int[KEYS];
            for (int i = 0; i < 60; i++) {
              int[] chosen = random.ints(0, KEYS).distinct().limit(50).toArray();
              long[] some = Arrays.stream(chosen).mapToLong(k -> all[k]).toArray();
              int[] its = Arrays.stream(chosen).map(k -> lengths[k]).toArray();
              float[] ones = new float[Arrays.stream(its).sum()];
              Arrays.fill(ones, 1);
              table.push(some, its, ones).await();
              Arrays.stream(chosen).forEach(k -> mine[k]++);
            }
            store.barrier();
            KvPairs found = table.pull(all);
            long sum = 0;
            for (int k = 0; k < KEYS; k++) {
              float[] value = found.value(k);
              assertThat(value.length).isIn(0, lengths[k]);
              for (float each : value) {
                assertThat(each).isEqualTo(value[0]);
              }
              assertThat(value.length == 0 ? 0 : value[0]).isGreaterThanOrEqualTo(mine[k]);
              sum += value.length == 0 ? 0 : (long) value[0];
            }
            assertThat(sum).isEqualTo(60L * 50 * workers);
            store.barrier();
          });
    }
  }
}
