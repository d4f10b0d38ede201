// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks dense tensors by name over each transport.
@Timeout(120)
class TensorTest {

  private static KvJob job(String transport, int ranks, int servers) {
    return new KvJob(
        transport,
        ranks,
        KvOptions.servers(servers),
        it -> it.set(KvConfig.SHARDS, "3").set(KvConfig.PARTITION, "8K"));
  }

  private static float[] ramp(int elements, float scale) {
    float[] values = new float[elements];
    for (int i = 0; i < elements; i++) {
      values[i] = scale * (i % 1000);
    }
    return values;
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void tensorsOfAnyLengthBeginWithTheFirstWorkersValuesAndAddUp(String transport) {
    try (KvJob job = job(transport, 4, 2)) {
      job.onWorkers(
          (worker, weft) -> {
            for (int elements : new int[] {1, 2047, 2048, 2049, 50_001}) {
              KvTensor tensor = worker.registerTensor(TableSpec.tensor("w" + elements, elements));
              tensor.init(MemorySegment.ofArray(ramp(elements, weft.rank()))).await();
              float[] pulled = new float[elements];
              tensor.pull(MemorySegment.ofArray(pulled)).await();
              assertThat(pulled).containsExactly(ramp(elements, 2));
              tensor.push(MemorySegment.ofArray(ramp(elements, weft.rank()))).await();
              tensor.pull(MemorySegment.ofArray(pulled)).await();
              assertThat(pulled).containsExactly(ramp(elements, 2 + 2 + 3));
              MemorySegment both = MemorySegment.ofArray(ramp(elements, 1));
              tensor.pushPull(both, both).await();
              assertThat(both.toArray(JAVA_FLOAT)).containsExactly(ramp(elements, 9));
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void halvesAreAddedUpAsFloats(String transport) {
    try (KvJob job = job(transport, 3, 1)) {
      job.onWorkers(
          (worker, weft) -> {
            KvTensor tensor = worker.registerTensor(TableSpec.tensor("w", 5000));
            try (TensorLease halves = weft.allocate(DType.FLOAT16, Shape.of(5000));
                TensorLease floats = weft.allocate(DType.FLOAT32, Shape.of(5000))) {
              MemorySegment data = halves.view().data();
              for (int round = 1; round <= 4; round++) {
                for (int i = 0; i < 5000; i++) {
                  // 2048 + 1 is not a FLOAT16 value, so a sum of halves would stay at 2048.
                  data.setAtIndex(
                      JAVA_SHORT, i, Float.floatToFloat16(round == 1 && i < 10 ? 2048 : 1));
                }
                tensor.push(halves.view(), 0).await();
              }
              tensor.pull(floats.view(), 0).await();
              assertThat(floats.view().data().getAtIndex(JAVA_FLOAT, 3)).isEqualTo(4096 + 6);
              assertThat(floats.view().data().getAtIndex(JAVA_FLOAT, 4999)).isEqualTo(8);
              tensor.pull(halves.view(), 0).await();
              assertThat(data.getAtIndex(JAVA_SHORT, 3)).isEqualTo(Float.floatToFloat16(4102));
              assertThat(data.getAtIndex(JAVA_SHORT, 4999)).isEqualTo(Float.floatToFloat16(8));
            }
            worker.barrier();
          });
    }
  }

  @Test
  void aBoundedWorkerWaitsForTheSlowestAndItsStalenessIsMeasured() {
    try (KvJob job = job("tcp", 3, 1)) {
      job.onWorkers(
          (worker, weft) -> {
            KvTensor tensor =
                worker.registerTensor(
                    TableSpec.tensor("w", 9000).with(Consistency.bounded(2)).withRule("assign"));
            MemorySegment place = MemorySegment.ofArray(new float[9000]);
            if (weft.rank() == 1) {
              tensor.push(MemorySegment.ofArray(ramp(9000, 1))).await();
              worker.clock();
              worker.clock();
              tensor.pull(place).await();
              assertThat(worker.counts().staleness()).isEqualTo(2);
              worker.clock();
              Handle<Void> waits = tensor.pull(place);
              assertThatThrownBy(() -> waits.await(Duration.ofMillis(100)))
                  .isInstanceOf(CommException.TimedOut.class);
              worker.barrier();
              waits.await();
              assertThat(worker.counts().staleness()).isEqualTo(2);
              assertThat(worker.counts().pulls()).isEqualTo(2);
            } else {
              worker.barrier();
              worker.clock();
            }
            worker.barrier();
          });
    }
  }

  @Test
  void anAsynchronousWorkerNeverWaitsAndItsStalenessIsMeasured() {
    try (KvJob job = job("inproc", 3, 1)) {
      job.onWorkers(
          (worker, weft) -> {
            KvTensor tensor =
                worker.registerTensor(TableSpec.tensor("w", 10).with(Consistency.asynchronous()));
            MemorySegment place = MemorySegment.ofArray(new float[10]);
            if (weft.rank() == 1) {
              for (int i = 0; i < 7; i++) {
                tensor.push(MemorySegment.ofArray(ramp(10, 1))).await();
                worker.clock();
                tensor.pull(place).await();
              }
              assertThat(place.toArray(JAVA_FLOAT)).containsExactly(ramp(10, 7));
              assertThat(worker.counts())
                  .hasToString("TableCounts[pushes=7, pulls=7, staleness=7]");
            }
            worker.barrier();
          });
    }
  }

  @Test
  void theLastOfThreeWorkersIsNotAwaitedWithOneBackupWorker() {
    try (KvJob job = job("inproc", 4, 1)) {
      job.onWorkers(
          (worker, weft) -> {
            KvTensor tensor =
                worker.registerTensor(TableSpec.tensor("w", 5000).with(Consistency.backedUpBy(1)));
            worker.barrier(); // a worker that registers after an applied clock begins at it
            float[] pulled = new float[5000];
            if (weft.rank() < 3) {
              tensor.push(MemorySegment.ofArray(ramp(5000, weft.rank()))).await();
              tensor.pull(MemorySegment.ofArray(pulled)).await();
              assertThat(pulled).containsExactly(ramp(5000, 3));
            }
            worker.barrier();
            if (weft.rank() == 3) {
              tensor.push(MemorySegment.ofArray(ramp(5000, 100))).await();
              tensor.pull(MemorySegment.ofArray(pulled)).await();
              assertThat(pulled).containsExactly(ramp(5000, 3));
            }
            worker.barrier();
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm"})
  void everyRankIsServerAndWorkerAndRulesKeepTheirState(String transport) {
    try (KvJob job =
        new KvJob(transport, 2, KvOptions.everyRank(), it -> it.set(KvConfig.PARTITION, "4K"))) {
      job.onWorkers(
          (worker, weft) -> {
            KvTensor tensor =
                worker.registerTensor(
                    TableSpec.tensor("w", 3000)
                        .withRule("momentum:lr=1,momentum=0.5")
                        .withInitial("constant:value=8", 0));
            List<Handle<Void>> open = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
              float[] ones = new float[3000];
              Arrays.fill(ones, 0.5f);
              open.add(tensor.push(MemorySegment.ofArray(ones)));
            }
            for (Handle<Void> each : open) {
              each.await();
            }
            float[] pulled = new float[3000];
            tensor.pull(MemorySegment.ofArray(pulled)).await();
            assertThat(pulled).containsOnly(8 - (1f + 1.5f + 1.75f + 1.875f + 1.9375f));
          });
    }
  }

  @Test
  void initialValuesDoNotDependOnThePartsOfATensor() throws InterruptedException {
    float[] pulled = new float[10_000];
    float[] others = new float[10_000];
    TableSpec spec = TableSpec.tensor("w", 10_000).withInitial("normal", 5);
    try (KvJob job = job("inproc", 3, 2)) {
      job.member(2).worker().registerTensor(spec).pull(MemorySegment.ofArray(pulled)).await();
    }
    try (KvJob job = job("inproc", 2, 1)) {
      job.member(1)
          .worker()
          .registerTensor(spec.with(Slicer.parts(3072)))
          .pull(MemorySegment.ofArray(others))
          .await();
    }
    assertThat(pulled).containsExactly(others).doesNotContain(0);
  }

  /// Pushes continue during the checkpoint. Its values and slots have one clock on all shards.
  @Test
  void aCheckpointWithSlotsIsRestoredOnOtherServersAndContinues(@TempDir Path directory)
      throws InterruptedException {
    TableSpec spec = TableSpec.tensor("w", 20_000).withRule("momentum:lr=0.5,momentum=0.5");
    try (KvJob job = job("tcp", 3, 2)) {
      job.onWorkers(
          (worker, weft) -> {
            KvTensor tensor = worker.registerTensor(spec);
            tensor.init(MemorySegment.ofArray(ramp(20_000, 1))).await();
            List<Handle<Void>> open = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
              open.add(tensor.push(MemorySegment.ofArray(ramp(20_000, 2))));
              if (i == 1) {
                assertThat(worker.checkpoint(directory).clocks()).containsKey("w");
              }
            }
            for (Handle<Void> each : open) {
              each.await();
            }
          });
    }
    float[] values = ramp(20_000, 1);
    float[] slot = new float[20_000];
    try (KvJob job = job("tcp", 2, 1)) {
      job.onWorkers(
          (worker, weft) -> {
            KvTensor tensor = worker.registerTensor(spec);
            long clock = worker.restore(directory).orElseThrow().clocks().get("w");
            tensor.init(MemorySegment.ofArray(new float[20_000])).await();
            for (int step = 0; step <= clock; step++) {
              for (int i = 0; i < values.length; i++) {
                slot[i] = slot[i] * 0.5f + 2 * (i % 1000);
                values[i] -= 0.5f * slot[i];
              }
            }
            tensor.push(MemorySegment.ofArray(ramp(20_000, 2))).await();
            float[] pulled = new float[20_000];
            tensor.pull(MemorySegment.ofArray(pulled)).await();
            assertThat(pulled).containsExactly(values);
          });
    }
  }

  @Test
  void wrongTensorsAndValuesAreRefusedWithTheReason() throws InterruptedException {
    try (KvJob job = job("tcp", 3, 1)) {
      KvWorker worker = job.member(1).worker();
      TableSpec spec =
          TableSpec.tensor("w", 5000)
              .with(Consistency.asynchronous())
              .with(TableSpec.Checks.FINITE);
      KvTensor tensor = worker.registerTensor(spec);
      assertThatThrownBy(() -> tensor.push(MemorySegment.ofArray(new float[4])))
          .hasMessage(
              "tensor 'w': values of 16 bytes for 5000 elements of FLOAT32, expected 20000");
      float[] wrong = new float[5000];
      wrong[4097] = Float.NaN;
      assertThatThrownBy(() -> tensor.push(MemorySegment.ofArray(wrong)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("tensor 'w': value NaN of element 4097 is not finite; nothing was sent");
      tensor.push(MemorySegment.ofArray(new float[5000])).await();
      assertThatThrownBy(() -> tensor.init(MemorySegment.ofArray(ramp(5000, 1))).await())
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("was pushed to before its first values came");
      assertThatThrownBy(() -> worker.register(spec)).hasMessageContaining("call registerTensor");
      assertThatThrownBy(() -> worker.registerTensor(TableSpec.rows("r", 3)))
          .hasMessageContaining("call register");
      assertThatThrownBy(() -> worker.registerTensor(TableSpec.tensor("w", 5001)))
          .isInstanceOf(CommException.Mismatch.class)
          .hasMessageContaining("all workers register the same");
      assertThatThrownBy(
              () -> worker.registerTensor(TableSpec.tensor("v", 10).withRule("rowwise-adagrad")))
          .hasMessageContaining("is for rows of tables");
      assertThatThrownBy(
              () ->
                  worker
                      .registerTensor(
                          TableSpec.tensor("big", TableSpec.MAX_ELEMENTS)
                              .with(Slicer.parts(1 << 28)))
                      .pull(MemorySegment.ofArray(new float[1])))
          .hasMessageContaining("expected 8589934592");
      assertThatThrownBy(() -> TableSpec.tensor("big", TableSpec.MAX_ELEMENTS + 1))
          .hasMessageContaining("a tensor has 1 to 2147483648");
    }
  }

  @Test
  void awaitingTheFirstValuesOfAWorkerThatHasLeftFails() {
    try (KvJob job = job("tcp", 3, 1)) {
      job.onWorkers(
          (worker, weft) -> {
            KvTensor tensor = worker.registerTensor(TableSpec.tensor("w", 10));
            if (weft.rank() == 1) {
              weft.close();
              return;
            }
            assertThatThrownBy(() -> tensor.init(MemorySegment.ofArray(new float[10])).await())
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("rank 1, whose first values count, has left");
          });
    }
  }
}
