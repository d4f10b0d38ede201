// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.frame.KvCall;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvChanges;
import io.weft.kv.function.KvFunctions;
import io.weft.kv.function.ShardChanges;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks functions that change tables at the servers. Each is executed once, on both replicas.
@Timeout(120)
class ChangeTest {

  @TempDir private Path directory;

  private static KvJob job(String transport, int ranks, KvOptions options) {
    return new KvJob(
        transport,
        ranks,
        options,
        it -> it.set(KvConfig.SHARDS, "5").set(KvConfig.PARTITION, "4K"));
  }

  private static TableSpec rows(String name) {
    return TableSpec.rows(name, 2).with(Consistency.asynchronous());
  }

  private static MemorySegment ramp(int elements, float scale) {
    float[] values = new float[elements];
    for (int i = 0; i < elements; i++) {
      values[i] = scale * (i + 1);
    }
    return MemorySegment.ofArray(values);
  }

  private static float[] pulled(KvTensor tensor) throws InterruptedException {
    MemorySegment into = MemorySegment.ofArray(new float[(int) tensor.spec().width()]);
    tensor.pull(into).await();
    return into.toArray(ValueLayout.JAVA_FLOAT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void rowsAreScaledAndRowsOfAnotherTableAreAdded(String transport) {
    try (KvJob job = job(transport, 3, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable y = store.register(rows("y").withRule("momentum:lr=1"));
            KvTable x = store.register(rows("x"));
            y.push(new long[] {1, 2}, new float[] {-1, -2, -3, -4}).await();
            x.push(new long[] {2, -9}, new float[] {10, 20, 30, 40}).await();
            y.change(KvChanges.scale(2)).await();
            y.change(KvChanges.axpy(0.5f, "x")).await();
            float[] found = new float[8];
            y.pull(new long[] {1, 2, -9, 5}, found).await();
            assertThat(found).containsExactly(2, 4, 11, 18, 15, 20, 0, 0);
            y.push(new long[] {1}, new float[] {0, 0}).await(); // its slot is unchanged: -1, -2
            y.pull(new long[] {1}, found = new float[2]).await();
            assertThat(found).containsExactly(2.9f, 5.8f);
            assertThat(x.call(KvFunctions.sum()).await()).isEqualTo(100);
            assertThat(y.counts().pushes()).isEqualTo(4);
          });
    }
  }

  @Test
  void tensorsOfManyPartsAndValuesAreChanged() {
    try (KvJob job = job("tcp", 3, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            TableSpec spec = TableSpec.tensor("y", 5000).with(Consistency.bounded(1));
            KvTensor y = store.registerTensor(spec.with(Slicer.parts(1024)));
            TableSpec beside = TableSpec.tensor("x", 5000).with(Consistency.asynchronous());
            KvTensor x = store.registerTensor(beside.with(Slicer.parts(1024).coLocatedWith("y")));
            y.push(ramp(5000, 1)).await();
            x.push(ramp(5000, 2)).await();
            y.change(KvChanges.axpy(-2, "x")).await();
            assertThat(pulled(y)).isEqualTo(ramp(5000, -3).toArray(ValueLayout.JAVA_FLOAT));
            assertThat(x.call(KvFunctions.dot("y")).await()).isNegative();
            y.change(KvChanges.scale(-0.5f)).await();
            assertThat(pulled(y)).isEqualTo(ramp(5000, 1.5f).toArray(ValueLayout.JAVA_FLOAT));
            KvTensor coarse =
                store.registerTensor(
                    TableSpec.tensor("z", 5000)
                        .with(Consistency.asynchronous())
                        .with(Slicer.parts(2048).coLocatedWith("y")));
            coarse.push(ramp(5000, 1)).await();
            assertThatThrownBy(() -> coarse.change(KvChanges.axpy(1, "x")).await())
                .hasMessageContaining("another kind, width or slicer");
            TableSpec any = TableSpec.values("v", 9).with(Consistency.asynchronous());
            KvValues values = store.registerValues(any);
            values.push(new long[] {3, 4}, new int[] {1, 2}, new float[] {1, 2, 3}).await();
            values.change(KvChanges.axpy(1, "v")).await();
            values.change(KvChanges.scale(3)).await();
            assertThat(values.pull(4, 3).values()).containsExactly(12, 18, 6);
          });
    }
  }

  @Test
  void aFunctionOfTensorsOnDifferentShardsIsRefused() {
    try (KvJob job = job("inproc", 3, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTensor a = store.registerTensor(asynchronous("a"));
            for (int i = 0; i < 5; i++) {
              KvTensor other = store.registerTensor(asynchronous("other" + i));
              a.push(ramp(3000, 1)).await();
              other.push(ramp(3000, 1)).await();
            }
            List<String> refused = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
              String name = "other" + i;
              try {
                a.call(KvFunctions.dot(name)).await();
              } catch (CommException.Mismatch why) {
                refused.add(why.getMessage());
              }
            }
            assertThat(refused)
                .isNotEmpty()
                .allMatch(it -> it.contains("lie on other shards") && it.contains("coLocatedWith"));
          });
    }
  }

  private static TableSpec asynchronous(String name) {
    return TableSpec.tensor(name, 3000).with(Consistency.asynchronous());
  }

  @Test
  void aRepeatedChangeIsExecutedOnce() throws Exception {
    try (KvJob job = new KvJob("tcp", 2, KvOptions.servers(1))) {
      TableSpec spec = rows("t");
      KvTable table = job.member(1).worker().register(spec);
      KvChange twice = KvChanges.scale(2);
      byte[] call =
          new KvCall(twice.name(), twice.argument()).encode().toArray(ValueLayout.JAVA_BYTE);
      table.push(new long[] {4}, new float[] {1, 3}).await();
      for (int i = 0; i < 3; i++) {
        KvHead head =
            new KvHead(
                KvOp.CHANGE,
                new KvHead.Target(0, spec.id()),
                new KvHead.Progress(2, 2, 0),
                KvHead.Listed.NONE);
        assertThat(RawRequests.ask(job, head, call).status()).isEqualTo(KvReply.Status.DONE);
      }
      float[] found = new float[2];
      table.pull(new long[] {4}, found).await();
      assertThat(found).containsExactly(2, 6);
    }
  }

  /// Doubles each counter and adds 1, so that order and repetition change the result.
  private record DoubleAndOne() implements KvChange {
    @Override
    public String name() {
      return "double-and-one";
    }

    @Override
    public byte[] argument() {
      return new byte[0];
    }

    @Override
    public void run(ShardChanges shard, byte[] argument) {
      shard.forEach(
          (at, values) -> {
            float[] its = values.toArray(ValueLayout.JAVA_FLOAT);
            for (int i = 0; i < its.length; i++) {
              its[i] = (2 * its[i] + 1) % 8191;
            }
            shard.assign(at, MemorySegment.ofArray(its));
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void noChangeIsLostOrDoubledWhenServersLeaveInTurn(String transport) {
    try (KvJob job =
        job(transport, 4, KvOptions.servers(3).withMirrors().withChange(new DoubleAndOne()))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(rows("t"));
            KvTable x = store.register(rows("x"));
            long[] keys = LongStream.range(0, 3000).toArray();
            float[] ones = new float[6000];
            Arrays.fill(ones, 1);
            x.push(keys, ones).await();
            long expected = 0;
            // Each change waits for the one before, because a repeated request may arrive later.
            for (int round = 0; round < 60; round++) {
              table.push(keys, ones).await();
              Handle<Void> change = table.change(new DoubleAndOne());
              if (round == 15) {
                job.job().ranks().get(0).close();
              }
              change.await();
              Handle<Void> added = table.change(KvChanges.axpy(3, "x"));
              if (round == 40) {
                job.job().ranks().get(1).close(); // rank 2 has only the copies
              }
              added.await();
              expected = (2 * (expected + 1) + 1) % 8191 + 3;
            }
            float[] found = new float[6000];
            table.pull(keys, found).await();
            assertThat(found).containsOnly(expected);
          });
    }
  }

  @Test
  void aCheckpointContainsTheChangesSinceTheOneBefore() throws Exception {
    long[] keys = LongStream.range(0, 500).toArray();
    float[] values = new float[1000];
    for (int i = 0; i < 1000; i++) {
      values[i] = i;
    }
    try (KvJob job = job("tcp", 3, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(rows("t"));
            table.push(keys, values).await();
            assertThat(store.checkpoint(directory).rows()).isEqualTo(500);
            assertThat(store.checkpoint(directory).rows()).isZero();
            table.change(KvChanges.scale(0.25f)).await();
            assertThat(store.checkpoint(directory).rows()).isEqualTo(500);
            table.change(KvChanges.scale(7)).await();
          });
    }
    try (KvJob job = job("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(rows("t"));
            assertThat(store.restore(directory)).isPresent();
            float[] found = new float[1000];
            table.pull(keys, found).await();
            for (int i = 0; i < 1000; i++) {
              assertThat(found[i]).isEqualTo(0.25f * i);
            }
          });
    }
  }

  /// A change that fails on a negative row.
  private record Root() implements KvChange {
    @Override
    public String name() {
      return "root";
    }

    @Override
    public byte[] argument() {
      return new byte[0];
    }

    @Override
    public void run(ShardChanges shard, byte[] argument) {
      shard.forEach(
          (at, values) -> {
            float value = values.getAtIndex(ValueLayout.JAVA_FLOAT, 0);
            if (value < 0) {
              throw new IllegalArgumentException("row " + at + " is " + value);
            }
            shard.assign(at, MemorySegment.ofArray(new float[] {(float) Math.sqrt(value), 0}));
          });
    }
  }

  @Test
  void failedChangesAreRefusedAndOtherRequestsContinue() {
    try (KvJob job = job("tcp", 3, KvOptions.servers(2).withMirrors().withChange(new Root()))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(rows("t"));
            table.push(new long[] {7}, new float[] {16, 5}).await();
            table.change(new Root()).await();
            table.push(new long[] {8}, new float[] {-1, 0}).await();
            assertThatThrownBy(() -> table.change(new Root()).await())
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("change 'root' failed: row 8 is -1.0");
            assertThatThrownBy(() -> table.change(new DoubleAndOne()).await())
                .hasMessageContaining("unknown change 'double-and-one'")
                .hasMessageContaining("axpy, root, scale");
            assertThatThrownBy(() -> table.change(KvChanges.axpy(1, "nothing")).await())
                .hasMessageContaining("unknown table 'nothing'");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> KvChanges.scale(Float.NaN))
                .withMessageContaining("not finite");
            KvTable synchronous = store.register(TableSpec.rows("s", 2));
            assertThatThrownBy(() -> synchronous.change(KvChanges.scale(2)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'s' is synchronous");
            assertThatThrownBy(() -> table.change(KvChanges.axpy(1, "s")).await())
                .hasMessageContaining("table 's' is synchronous; a change reads");
            table.push(new long[] {7}, new float[] {1, 1}).await();
            float[] found = new float[2];
            table.pull(new long[] {7}, found).await();
            assertThat(found[1]).isEqualTo(1);
          });
    }
  }
}
