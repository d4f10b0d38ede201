// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.comm.CommException;
import io.weft.kv.function.KvFunction;
import io.weft.kv.function.KvFunctions;
import io.weft.kv.function.KvFunctions.Found;
import io.weft.kv.function.ShardValues;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks functions that run on the servers, where the values are stored.
@Timeout(120)
class FunctionTest {

  private static KvJob job(String transport, KvOptions options) {
    return new KvJob(
        transport, 3, options, it -> it.set(KvConfig.SHARDS, "5").set(KvConfig.PARTITION, "4K"));
  }

  private static TableSpec rows(String name) {
    return TableSpec.rows(name, 2).with(Consistency.asynchronous());
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void functionsAddUpCompareAndFindRows(String transport) {
    try (KvJob job = job(transport, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable first = store.register(rows("first"));
            KvTable second = store.register(rows("second"));
            long[] keys = LongStream.range(-50, 50).toArray();
            float[] values = new float[200];
            double norm = 0;
            double dot = 0;
            for (int i = 0; i < 200; i++) {
              values[i] = i % 2 == 0 ? i : -i;
              norm += (double) i * i;
              dot += i < 100 ? 3.0 * values[i] : 0;
            }
            first.push(keys, values).await();
            float[] threes = new float[100];
            Arrays.fill(threes, 3);
            second.push(LongStream.range(-50, 0).toArray(), threes).await();
            assertThat(first.call(KvFunctions.norm()).await())
                .isEqualTo(Math.sqrt(norm), within(1e-6));
            assertThat(first.call(KvFunctions.dot("second")).await()).isEqualTo(dot, within(1e-6));
            assertThat(first.call(KvFunctions.sum()).await()).isEqualTo(-100);
            assertThat(first.call(KvFunctions.topK(3)).await())
                .containsExactly(
                    new Found(49, 1, -199), new Found(49, 0, 198), new Found(48, 1, -197));
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void functionsRunOnTensorsOfManyParts(String transport) {
    try (KvJob job = job(transport, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTensor tensor =
                store.registerTensor(TableSpec.tensor("w", 5000).with(Consistency.asynchronous()));
            float[] values = new float[5000];
            values[4321] = -8;
            values[12] = 6;
            tensor.push(MemorySegment.ofArray(values)).await();
            assertThat(tensor.call(KvFunctions.norm()).await()).isEqualTo(10);
            assertThat(tensor.call(KvFunctions.topK(2)).await())
                .containsExactly(new Found(4321, 0, -8), new Found(12, 0, 6));
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void aCustomFunctionRunsAndItsExceptionReachesTheCaller(String transport) {
    try (KvJob job = job(transport, KvOptions.servers(2).withFunction(new CountAbove(0)))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(rows("t"));
            table.push(new long[] {1, 2, 3}, new float[] {1, 2, 3, 4, 5, 6}).await();
            assertThat(table.call(new CountAbove(2)).await()).isEqualTo(4);
            assertThatThrownBy(() -> table.call(new CountAbove(-1)).await())
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("function 'count-above' failed: -1 is less than 0");
            assertThatThrownBy(() -> table.call(KvFunctions.dot("nothing")).await())
                .hasMessageContaining("unknown table 'nothing'");
            assertThatThrownBy(() -> table.call(new Unknown()).await())
                .hasMessageContaining("unknown function 'unknown'")
                .hasMessageContaining("count-above, dot, norm, sum, top-k");
            assertThat(table.call(KvFunctions.sum()).await()).isEqualTo(21);
          });
    }
  }

  /// Counts the values that are larger than `bound`.
  private record CountAbove(int bound) implements KvFunction<Integer> {
    @Override
    public String name() {
      return "count-above";
    }

    @Override
    public byte[] argument() {
      return new byte[] {(byte) bound};
    }

    @Override
    public byte[] run(ShardValues shard, byte[] given) {
      if (given[0] < 0) {
        throw new IllegalArgumentException(given[0] + " is less than 0");
      }
      int[] count = new int[1];
      shard.forEach(
          (at, values) -> {
            for (float each : values.toArray(ValueLayout.JAVA_FLOAT)) {
              count[0] += each > given[0] ? 1 : 0;
            }
          });
      return new byte[] {(byte) count[0]};
    }

    @Override
    public Integer join(List<byte[]> results) {
      return results.stream().mapToInt(it -> it[0]).sum();
    }
  }

  /// A function that no server has.
  private record Unknown() implements KvFunction<Integer> {
    @Override
    public String name() {
      return "unknown";
    }

    @Override
    public byte[] argument() {
      return new byte[0];
    }

    @Override
    public byte[] run(ShardValues shard, byte[] given) {
      return given;
    }

    @Override
    public Integer join(List<byte[]> results) {
      return results.size();
    }
  }
}
