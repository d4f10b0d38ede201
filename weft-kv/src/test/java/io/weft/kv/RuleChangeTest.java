// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that workers change the parameters of a rule at the servers while they push.
@Timeout(120)
class RuleChangeTest {

  private static final int ELEMENTS = 5000;
  private static final TableSpec TENSOR = TableSpec.tensor("w", ELEMENTS).withRule("sgd:lr=1");
  private static final TableSpec ROWS = TableSpec.rows("rows", 2).withRule("sgd:lr=1");
  private static final long[] KEYS = {1, -5, Long.MAX_VALUE};

  @TempDir Path directory;

  /// A tensor whose elements are all pushed by one and must all be equal.
  private record Even(KvTensor tensor) {

    void push() throws InterruptedException {
      var unused = tensor.push(filled(1)).await();
    }

    float value() throws InterruptedException {
      MemorySegment values = filled(Float.NaN);
      var unused = tensor.pull(values).await();
      float[] all = values.toArray(ValueLayout.JAVA_FLOAT);
      assertThat(all).containsOnly(all[0]);
      return all[0];
    }

    private static MemorySegment filled(float value) {
      MemorySegment values = Arena.ofAuto().allocate(ValueLayout.JAVA_FLOAT, ELEMENTS);
      for (int i = 0; i < ELEMENTS; i++) {
        values.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
      }
      return values;
    }
  }

  private static KvJob job(String transport, int servers, int workers, KvOptions options) {
    return new KvJob(
        transport,
        servers + workers,
        options,
        it ->
            it.set(KvConfig.SHARDS, "5").set(KvConfig.THREADS, "2").set(KvConfig.PARTITION, "8K"));
  }

  private static float row(KvTable table) throws InterruptedException {
    float[] values = new float[2 * KEYS.length];
    var unused = table.pull(KEYS, values).await();
    assertThat(values).containsOnly(values[0]);
    return values[0];
  }

  private static void push(KvTable table) throws InterruptedException {
    float[] ones = new float[2 * KEYS.length];
    Arrays.fill(ones, 1);
    var unused = table.push(KEYS, ones).await();
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void theRateOfSynchronousTablesChangesInTheStatedStep(String transport) {
    try (KvJob job = job(transport, 2, 2, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            var even = new Even(store.registerTensor(TENSOR));
            KvTable rows = store.register(ROWS);
            float expected = 0;
            for (int step = 1; step <= 6; step++) {
              if (step == 3 && weft.rank() == 2) {
                even.tensor().changeRule("lr=0.5", 5).await();
                rows.changeRule("lr=0.5", 5).await();
                even.tensor().changeRule("clip=0.25", 6).await();
              }
              even.push();
              push(rows);
              expected -= step < 5 ? 2 : 1;
              assertThat(row(rows)).as("row after step %d", step).isEqualTo(expected);
              // The clipped sum of two gradients of 1 is 0.25, and the rate 0.5.
              assertThat(even.value())
                  .as("element after step %d", step)
                  .isEqualTo(step == 6 ? expected + 1 - 0.125f : expected);
              store.barrier();
            }
          });
    }
  }

  @Test
  void aChangeOfAStepThatHasBegunHoldsFromTheNextStepOn() {
    try (KvJob job = job("inproc", 1, 1, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            var even = new Even(store.registerTensor(TENSOR));
            even.push();
            even.push();
            even.tensor().changeRule("lr=0.5", 0).await();
            assertThat(even.value()).isEqualTo(-2);
            even.push();
            assertThat(even.value()).isEqualTo(-2.5f);
            even.tensor().changeRule("decay=0.5").await(); // from the next push on, by default
            even.push();
            assertThat(even.value()).isEqualTo(-2.5f * 0.75f - 0.5f);
          });
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theStepOfOtherTablesIsTheClockOfThePushingWorker(boolean bounded) {
    Consistency consistency = bounded ? Consistency.bounded(2) : Consistency.asynchronous();
    try (KvJob job = job("inproc", 2, 1, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable rows = store.register(ROWS.with(consistency));
            var values =
                store.registerValues(
                    TableSpec.values("lists", 4).withRule("sgd:lr=1").with(consistency));
            rows.changeRule("lr=4", 2).await();
            values.changeRule("lr=4", 2).await();
            float expected = 0;
            for (int clock = 0; clock < 4; clock++) {
              push(rows);
              values.push(new long[] {7}, new int[] {3}, new float[] {1, 1, 1}).await();
              expected -= clock < 2 ? 1 : 4;
              assertThat(row(rows)).as("at clock %d", clock).isEqualTo(expected);
              store.clock();
            }
            float[] list = new float[3];
            values.pull(new long[] {7}, new int[] {3}, list).await();
            assertThat(list).containsOnly(expected);
          });
    }
  }

  @Test
  void mirrorsAndCopiesApplyTheChangedRule() {
    try (KvJob job = job("tcp", 3, 2, KvOptions.servers(3).withMirrors())) {
      job.onWorkers(
          (store, weft) -> {
            var even = new Even(store.registerTensor(TENSOR));
            even.push();
            if (weft.rank() == 3) {
              even.tensor().changeRule("lr=0.5", 2).await();
              even.tensor().changeRule("lr=0.25", 4).await();
            }
            store.barrier();
            even.push();
            assertThat(even.value()).isEqualTo(-3);
            leave(job, 0, weft.rank());
            even.push();
            assertThat(even.value()).as("of mirrors").isEqualTo(-4);
            store.barrier();
            awaitMirrors(job.member(1).server().orElseThrow());
            awaitMirrors(job.member(2).server().orElseThrow());
            store.barrier();
            leave(job, 1, weft.rank());
            even.push();
            assertThat(even.value()).as("of copies").isEqualTo(-4.5f);
            store.barrier();
          });
    }
  }

  private static void leave(KvJob job, int server, int rank) {
    if (rank == 3) {
      job.job().ranks().get(server).close();
    }
  }

  /// Waits until all shards of a server are mirrored. It polls because servers do not report it.
  private static void awaitMirrors(KvServer server) {
    long end = System.nanoTime() + 60_000_000_000L;
    while (!server.mirrored().equals(server.served()) || server.served().isEmpty()) {
      assertThat(System.nanoTime() - end).as("time left").isNegative();
      LockSupport.parkNanos(5_000_000);
    }
  }

  @Test
  void aCheckpointKeepsTheChangesUnlessTheProgramHasAnotherRule() {
    TableSpec later = ROWS.with(Consistency.asynchronous());
    try (KvJob job = job("inproc", 2, 1, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            var even = new Even(store.registerTensor(TENSOR));
            KvTable rows = store.register(later);
            even.push();
            even.tensor().changeRule("lr=0.5", 2).await();
            even.tensor().changeRule("lr=8", 4).await();
            even.push();
            for (int clock = 0; clock < 3; clock++) {
              push(rows);
              store.clock();
            }
            rows.changeRule("lr=2").await();
            rows.changeRule("lr=16", 5).await();
            push(rows);
            assertThat(store.checkpoint(directory).number()).isEqualTo(1);
          });
    }
    try (KvJob job = job("inproc", 3, 1, KvOptions.servers(3))) {
      job.onWorkers(
          (store, weft) -> {
            var even = new Even(store.registerTensor(TENSOR));
            KvTable rows = store.register(later);
            assertThat(store.restore(directory)).isPresent();
            even.push();
            assertThat(even.value()).isEqualTo(-2);
            even.push();
            assertThat(even.value()).as("of the change that is still ahead").isEqualTo(-10);
            push(rows);
            assertThat(row(rows)).isEqualTo(-5 - 2);
            store.clock();
            store.clock();
            push(rows);
            assertThat(row(rows)).as("two clocks after the checkpoint").isEqualTo(-5 - 2 - 16);
          });
    }
    try (KvJob job = job("inproc", 1, 1, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            var even = new Even(store.registerTensor(TENSOR.withRule("sgd:lr=3")));
            KvTable unused = store.register(later);
            assertThat(store.restore(directory)).isPresent();
            even.push();
            assertThat(even.value()).isEqualTo(-1.5f - 3);
          });
    }
  }

  @Test
  void whatARuleCannotBecomeIsRefusedAtTheWorker() {
    try (KvJob job = job("inproc", 1, 1, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable rows = store.register(TableSpec.rows("a", 1).withRule("adagrad:lr=1"));
            refused(rows, "rate=1", 3, "unknown parameter 'rate'; 'adagrad' has lr");
            refused(rows, "lr=-1", 3, "'lr' is -1, but must be at least 0.0");
            refused(rows, "", 3, "'' is not of the form parameter=value");
            refused(rows, "lr=1", -1, "a change of step -1");
            refused(rows, "init=1", 3, "cannot become 'adagrad:lr=1,init=1' while it runs");
            refused(store.register(TableSpec.rows("b", 1)), "lr=1", 3, "'sum' has none");
            rows.changeRule("lr=2,eps=0").await();
          });
    }
  }

  private static void refused(KvTable table, String parameters, long step, String why) {
    assertThatThrownBy(() -> table.changeRule(parameters, step))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }
}
