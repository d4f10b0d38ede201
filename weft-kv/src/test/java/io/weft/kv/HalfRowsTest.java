// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.key.KeyList;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks rows of 16 bits, and what MXNet's tests of row-sparse keys check in both widths.
@Timeout(120)
class HalfRowsTest {

  private static TensorView view(DType dtype, int rows, int width) {
    MemorySegment memory =
        Arena.ofAuto().allocate(Math.max(1, (long) rows * width * dtype.bytes()));
    return new TensorView(
        dtype, Shape.of(rows, width), memory.asSlice(0, (long) rows * width * dtype.bytes()));
  }

  private static void put(TensorView view, int at, float value) {
    if (view.dtype() == DType.FLOAT32) {
      view.data().setAtIndex(JAVA_FLOAT_UNALIGNED, at, value);
    } else {
      view.data().setAtIndex(JAVA_SHORT_UNALIGNED, at, Float.floatToFloat16(value));
    }
  }

  private static float at(TensorView view, int at) {
    return view.dtype() == DType.FLOAT32
        ? view.data().getAtIndex(JAVA_FLOAT_UNALIGNED, at)
        : Float.float16ToFloat(view.data().getAtIndex(JAVA_SHORT_UNALIGNED, at));
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void halfRowsAreAddedUpAsFloatsAndRoundedInReplies(String transport) {
    try (KvJob job =
        new KvJob(transport, 3, KvOptions.servers(1), it -> it.set(KvConfig.SHARDS, "3"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 3));
            KeyList keys = table.keys(5, -1, 5, 1L << 40, 9);
            TensorView pushed = view(DType.FLOAT16, 5, 3);
            for (int i = 0; i < 15; i++) {
              put(pushed, i, i == 4 ? 1024 : 1); // of key -1
            }
            for (int round = 0; round < 3; round++) {
              table.push(keys, pushed).await();
            }
            float[] floats = new float[9];
            table.pull(new long[] {5, -1, 9}, floats).await();
            assertThat(floats).containsExactly(12, 12, 12, 6, 6144, 6, 6, 6, 6);
            table.push(keys, view(DType.FLOAT32, 5, 3)).await();
            put(pushed, 4, 1025); // exact as FLOAT16
            table.push(keys, pushed).await();
            table.pull(new long[] {5, -1, 9}, floats).await();
            assertThat(floats[4]).isEqualTo(8194);
            TensorView pulled = view(DType.FLOAT16, 5, 3);
            table.pull(keys, pulled).await();
            assertThat(at(pulled, 4)).isEqualTo(8192); // rounded to nearest, ties to even
            assertThat(at(pulled, 0)).isEqualTo(16);
            assertThat(at(pulled, 6)).isEqualTo(16); // key 5 again
            assertThat(at(pulled, 14)).isEqualTo(8);
          });
    }
  }

  /// Each worker pushes another random 30 % of many rows and pulls a random list with duplicates.
  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT32", "FLOAT16"})
  void workersPushDifferentThirdsOfManyRowsAndPullAnyRows(DType dtype) {
    int rows = 3000;
    int width = 10;
    int workers = 3;
    try (KvJob job =
        new KvJob("tcp", workers + 2, KvOptions.servers(2), it -> it.set(KvConfig.SHARDS, "4"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", width));
            float[] expected = new float[rows];
            for (int round = 0; round < 4; round++) {
              for (int worker = 0; worker < workers; worker++) {
                var random = new Random(100 * round + worker);
                long[] mine =
                    LongStream.range(0, rows).filter(it -> random.nextInt(10) < 3).toArray();
                for (long row : mine) {
                  expected[(int) row] += worker + 1;
                }
                if (worker == weft.rank() - 2) {
                  TensorView pushed = view(dtype, mine.length, width);
                  IntStream.range(0, mine.length * width)
                      .forEach(i -> put(pushed, i, weft.rank() - 1));
                  table.push(table.keys(mine), pushed).await();
                }
              }
              long[] some = new Random(weft.rank()).longs(500, 0, rows).toArray();
              TensorView pulled = view(dtype, some.length, width);
              table.pull(table.keys(some), pulled).await();
              for (int i = 0; i < some.length * width; i++) {
                assertThat(at(pulled, i)).isEqualTo(expected[(int) some[i / width]]);
              }
              TensorView none = view(dtype, 0, width);
              table.pull(table.keys(), none).await();
            }
            store.barrier();
          });
    }
  }

  @Test
  void longRowsOfConsecutiveKeysAddUp() {
    try (KvJob job = new KvJob("shm", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table =
                store.register(
                    TableSpec.rows("t", 300)
                        .with(Slicer.ranges(0, 99))
                        .with(Consistency.asynchronous()));
            KeyList keys = table.keys(LongStream.range(0, 100).toArray());
            TensorView pushed = view(DType.FLOAT16, 100, 300);
            IntStream.range(0, 30_000).forEach(i -> put(pushed, i, i % 100));
            table.push(keys, pushed).await();
            table.push(keys, pushed).await();
            TensorView pulled = view(DType.FLOAT16, 100, 300);
            table.pull(keys, pulled).await();
            for (int i = 0; i < 30_000; i++) {
              assertThat(at(pulled, i)).isEqualTo(2 * (i % 100));
            }
          });
    }
  }

  @Test
  void aMirrorHasTheSameRows() {
    try (KvJob job = new KvJob("tcp", 3, KvOptions.servers(2).withMirrors())) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 4).withRule("momentum"));
            KeyList keys = table.keys(LongStream.range(0, 200).toArray());
            TensorView pushed = view(DType.FLOAT16, 200, 4);
            IntStream.range(0, 800).forEach(i -> put(pushed, i, i));
            for (int i = 0; i < 3; i++) {
              table.push(keys, pushed).await();
            }
            float[] before = new float[800];
            table.pull(keys, MemorySegment.ofArray(before)).await();
            job.job().ranks().get(0).close();
            float[] after = new float[800];
            table.pull(keys, MemorySegment.ofArray(after)).await();
            assertThat(after).isEqualTo(before);
          });
    }
  }

  @Test
  void otherTypesAndLengthsAreRefused() throws Exception {
    try (KvJob job = new KvJob("tcp", 2, KvOptions.servers(1))) {
      TableSpec spec = TableSpec.rows("t", 2).with(Consistency.asynchronous());
      KvTable table = job.member(1).worker().register(spec);
      KeyList keys = table.keys(1, 2);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> table.push(keys, view(DType.FLOAT64, 2, 2)))
          .withMessageContaining("FLOAT32 and FLOAT16");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> table.pull(keys, view(DType.FLOAT16, 2, 3)))
          .withMessageContaining("12 bytes for 2 keys of 2 FLOAT16, expected 8");
      KvHead halves =
          new KvHead(
              KvOp.PUSH,
              new KvHead.Target(0, spec.id()),
              new KvHead.Progress(1, 1, 0),
              new KvHead.Listed(KvHead.Keys.INLINE, 1, 0, 0),
              Values.FLOAT16);
      assertThat(RawRequests.ask(job, halves, new byte[8 + 8]).text()).contains("4 bytes");
      KvHead few =
          new KvHead(
              KvOp.PUSH,
              new KvHead.Target(0, spec.id()),
              new KvHead.Progress(1, 1, 0),
              new KvHead.Listed(KvHead.Keys.INLINE, 1, 0, 0),
              Values.INT8);
      assertThat(RawRequests.ask(job, few, new byte[8 + 6]).text()).contains("rows of 8 bits");
    }
  }
}
