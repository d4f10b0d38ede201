// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.kv.key.KeyList;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks rows of a table over each transport.
@Timeout(120)
class RowsTest {

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void pushedRowsArePulled(String transport) {
    try (KvJob job = new KvJob(transport, 2, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 2));
            long[] keys = {7, -1, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 24, 1L << 31, 0};
            float[] values = new float[14];
            for (int i = 0; i < values.length; i++) {
              values[i] = i + 0.5f;
            }
            float[] pulled = new float[14];
            table.pull(keys, pulled).await();
            assertThat(pulled).containsOnly(0f);
            table.push(keys, values).await();
            table.pull(keys, pulled).await();
            assertThat(pulled).containsExactly(values);
            table.pushPull(keys, values, pulled).await();
            for (int i = 0; i < values.length; i++) {
              assertThat(pulled[i]).isEqualTo(2 * values[i]);
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void tenThousandSortedKeysPushedFiftyTimesAddUp(String transport) {
    try (KvJob job =
        new KvJob(transport, 4, KvOptions.servers(2), it -> it.set(KvConfig.SHARDS, "5"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 1).with(Consistency.asynchronous()));
            long[] keys = new Random(9).longs(10_000).sorted().distinct().toArray();
            KeyList list = table.keys(keys);
            float[] values = new float[keys.length];
            for (int i = 0; i < values.length; i++) {
              values[i] = i % 1000;
            }
            for (int i = 0; i < 50; i++) {
              table.push(list, MemorySegment.ofArray(values)).await();
            }
            store.barrier();
            float[] pulled = new float[keys.length];
            table.pull(keys, pulled).await();
            for (int i = 0; i < values.length; i++) {
              assertThat(pulled[i]).isEqualTo(100f * (i % 1000));
            }
            store.barrier();
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void ownTensorsOfAscendingKeysNeedNoCopyAndArriveUnchanged(String transport) {
    try (KvJob job = new KvJob(transport, 3, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 4).with(Slicer.ranges(0, 99_999)));
            KeyList list = table.keys(LongStream.range(0, 100_000).toArray());
            assertThat(list.slices()).hasSize(2).allMatch(it -> it.isDirect());
            try (TensorLease values = weft.allocate(DType.FLOAT32, Shape.of(100_000, 4));
                TensorLease pulled = weft.allocate(DType.FLOAT32, Shape.of(100_000, 4))) {
              MemorySegment from = values.view().data();
              for (int i = 0; i < 400_000; i++) {
                from.setAtIndex(ValueLayout.JAVA_FLOAT, i, i);
              }
              for (int i = 0; i < 3; i++) {
                table.push(list, from).await();
              }
              table.pull(list, pulled.view().data()).await();
              for (int i = 0; i < 400_000; i++) {
                assertThat(pulled.view().data().getAtIndex(ValueLayout.JAVA_FLOAT, i))
                    .isEqualTo(3f * i);
              }
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void repeatedKeysAreAddedUpAndPulledAtEachPosition(String transport) {
    try (KvJob job =
        new KvJob(transport, 2, KvOptions.everyRank(), it -> it.set(KvConfig.SHARDS, "3"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 1));
            long[] keys = {5, 3, 5, 9, 3, 5, 1 + weft.rank() * 100L};
            table.push(keys, new float[] {1, 10, 2, 100, 20, 4, 1000}).await();
            float[] pulled = new float[5];
            table.pull(new long[] {3, 5, 3, 9, 101}, pulled).await();
            assertThat(pulled).containsExactly(60, 14, 60, 200, 1000);
            table.push(new long[0], new float[0]).await();
            table.pull(new long[0], new float[0]).await();
            table.pull(new long[] {9, 9}, new float[2]).await();
          });
    }
  }
}
