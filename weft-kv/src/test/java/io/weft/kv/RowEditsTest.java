// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.kv.key.KeyList;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks insertion and removal of rows.
@Timeout(120)
class RowEditsTest {

  private static final int KEYS = 1000;
  private static final TableSpec ROWS = TableSpec.rows("rows", 2).with(Consistency.asynchronous());

  @TempDir Path directory;

  private static long[] keys(int first, int count) {
    long[] keys = new long[count];
    Arrays.setAll(keys, i -> (first + i) * 0x9e3779b97f4a7c15L);
    return keys;
  }

  /// Returns rows whose values are the position of the key and its negative.
  private static float[] values(int first, int count) {
    float[] values = new float[2 * count];
    for (int i = 0; i < count; i++) {
      values[2 * i] = first + i + 1;
      values[2 * i + 1] = -(first + i + 1);
    }
    return values;
  }

  private static float[] pull(KvTable table, int first, int count) throws InterruptedException {
    float[] pulled = new float[(int) table.spec().width() * count];
    table.pull(keys(first, count), pulled).await();
    return pulled;
  }

  private static KvJob job(String transport, int servers, int workers, int shards) {
    return new KvJob(
        transport,
        servers + workers,
        KvOptions.servers(servers),
        it -> it.set(KvConfig.SHARDS, Integer.toString(shards)));
  }

  @ParameterizedTest
  @CsvSource({"inproc, 1, 1", "tcp, 2, 5", "shm, 3, 7"})
  void insertedRowsArePulledAndRemovedRowsHaveInitialValues(
      String transport, int servers, int shards) {
    try (KvJob job = job(transport, servers, 2, shards)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ROWS.withInitial("constant:value=0.5", 0));
            int mine = (weft.rank() - servers) * KEYS;
            table.insert(keys(mine, KEYS), values(mine, KEYS)).await();
            store.barrier();
            assertThat(pull(table, 0, 2 * KEYS)).isEqualTo(values(0, 2 * KEYS));
            assertThat(table.statistics().await().rows()).isEqualTo(2 * KEYS);
            store.barrier();
            table.push(new long[] {keys(mine, 1)[0]}, new float[] {1, 1}).await();
            table.remove(keys(mine + 10, 20)).await();
            table.remove(keys(mine + 10, 1)).await(); // has no row any more
            store.barrier();
            assertThat(pull(table, mine, 1)).containsExactly(mine + 2, -mine);
            assertThat(pull(table, mine + 10, 20)).containsOnly(0.5f);
            assertThat(pull(table, mine + 30, 50)).isEqualTo(values(mine + 30, 50));
            assertThat(table.statistics().await().rows()).isEqualTo(2 * (KEYS - 20));
          });
    }
  }

  @Test
  void insertionReplacesValuesAndSlotsAndListsStayValid() {
    try (KvJob job = job("inproc", 1, 1, 2)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table =
                store.register(
                    TableSpec.rows("m", 1)
                        .withRule("momentum:lr=1,momentum=0.5")
                        .with(Consistency.bounded(1)));
            KeyList list = table.keys(keys(0, 40));
            float[] ones = new float[40];
            Arrays.fill(ones, 1);
            table.push(list, MemorySegment.ofArray(ones)).await();
            table.push(list, MemorySegment.ofArray(ones)).await();
            float[] tens = new float[40];
            Arrays.fill(tens, 10);
            table.insert(list, MemorySegment.ofArray(tens)).await();
            assertThat(pull(table, 0, 40)).containsOnly(10);
            table.push(list, MemorySegment.ofArray(ones)).await();
            assertThat(pull(table, 0, 40)).containsOnly(9); // with a momentum of 0
            table.remove(list).await();
            table.push(list, MemorySegment.ofArray(ones)).await();
            assertThat(pull(table, 0, 40)).containsOnly(-1);
            try (TensorLease halves = weft.allocate(DType.FLOAT16, Shape.of(40))) {
              for (int i = 0; i < 40; i++) {
                halves
                    .view()
                    .data()
                    .setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(1.5f));
              }
              table.insert(list, halves.view()).await();
            }
            assertThat(pull(table, 0, 40)).containsOnly(1.5f);
          });
    }
  }

  @Test
  void anInsertedRowNeedsNoAdmission() {
    try (KvJob job = job("inproc", 2, 1, 3)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ROWS.with(Retention.ALL.admittedAfter(3)));
            table.push(keys(0, 100), values(0, 100)).await();
            assertThat(pull(table, 0, 100)).containsOnly(0);
            table.insert(keys(0, 50), values(0, 50)).await();
            table.push(keys(0, 100), values(0, 100)).await();
            assertThat(pull(table, 50, 50)).containsOnly(0);
            assertThat(pull(table, 0, 1)).containsExactly(2, -2);
          });
    }
  }

  /// Evicts rows that were not used in two pushes. An insertion is a use.
  @Test
  void anInsertedRowIsEvictedLikeOthers() {
    try (KvJob job = job("inproc", 1, 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ROWS.with(Retention.ALL.evictedAfter(8)));
            for (int i = 0; i < 6; i++) {
              table.push(keys(0, 1), values(0, 1)).await();
            }
            table.insert(keys(1, 1), values(1, 1)).await();
            for (int i = 0; i < 6; i++) {
              table.push(keys(0, 1), values(0, 1)).await();
            }
            assertThat(table.statistics().await().rows()).isEqualTo(2);
            for (int i = 0; i < 20; i++) {
              table.push(keys(0, 1), values(0, 1)).await();
            }
            assertThat(table.statistics().await().rows()).isEqualTo(1);
          });
    }
  }

  @Test
  void rowsOfASynchronousTableChangeBeforeTheFirstPushOnly() {
    try (KvJob job = job("tcp", 2, 2, 3)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("sync", 2).withRule("adam:lr=0.5"));
            if (weft.rank() == 2) {
              table.insert(keys(0, 100), values(0, 100)).await();
              table.remove(keys(50, 50)).await();
            }
            store.barrier();
            assertThat(pull(table, 0, 50)).isEqualTo(values(0, 50));
            assertThat(pull(table, 50, 50)).containsOnly(0);
            store.barrier();
            if (weft.rank() == 2) {
              table.push(keys(0, 100), values(0, 100)).await();
              assertThatThrownBy(() -> table.insert(keys(0, 1), values(0, 1)))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("'sync' is synchronous", "Consistency.bounded");
            }
            store.barrier();
            if (weft.rank() == 3) {
              assertThatThrownBy(() -> table.remove(keys(0, 100)).await())
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContaining("REMOVE of 100 keys of table 'sync'")
                  .hasMessageContaining("a push has arrived");
              table.push(keys(0, 100), values(0, 100)).await(); // the table has not ended
            }
            store.barrier();
            // Adam's first step is lr, by the sign of the gradient: the insertion is no step.
            float[] row = pull(table, 0, 1);
            assertThat(row[0]).isBetween(0.499f, 0.501f);
            assertThat(row[1]).isBetween(-0.501f, -0.499f);
          });
    }
  }

  @Test
  void invalidRowsAreRefusedAtTheCall() {
    KvTable[] closed = new KvTable[1];
    try (KvJob job = job("inproc", 1, 1, 2)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ROWS.with(TableSpec.Checks.FINITE));
            KvTable other = store.register(TableSpec.rows("other", 2));
            assertThatThrownBy(() -> table.insert(new long[] {4, 7, 5, 7}, new float[8]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("table 'rows': key 7, at position 3, was given before");
            assertThatThrownBy(() -> table.insert(new long[] {4, 7}, new float[5]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("values of 20 bytes for 2 keys of 2 floats, expected 16");
            assertThatThrownBy(() -> table.insert(new long[] {4}, new float[] {1, Float.NaN}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("NaN of key 4, column 1, is not finite");
            assertThatThrownBy(() -> table.remove(other.keys(1, 2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a list of keys of table 'other'");
            table.insert(new long[0], new float[0]).await();
            table.remove().await();
            table.insert(new long[] {9, -3, 5}, new float[] {1, 2, 3, 4, 5, 6}).await();
            float[] pulled = new float[6];
            table.pull(new long[] {-3, 5, 9}, pulled).await();
            assertThat(pulled).containsExactly(3, 4, 5, 6, 1, 2);
            closed[0] = table;
          });
    }
    assertThatThrownBy(() -> closed[0].insert(new long[] {1}, new float[2]))
        .hasMessageContaining("left the job");
    assertThatThrownBy(() -> closed[0].remove(1)).hasMessageContaining("left the job");
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void theLossOfServersLosesNoInsertionAndNoRemoval(String transport) {
    try (KvJob job =
        new KvJob(
            transport, 4, KvOptions.servers(3).withMirrors(), it -> it.set(KvConfig.SHARDS, "5"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ROWS.withRule("adagrad:lr=1"));
            table.push(keys(0, 300), values(0, 300)).await();
            table.insert(keys(0, KEYS), values(0, KEYS)).await();
            table.remove(keys(100, 100)).await();
            job.job().ranks().get(0).close();
            assertThat(pull(table, 0, 100)).isEqualTo(values(0, 100));
            assertThat(pull(table, 100, 100)).containsOnly(0);
            assertThat(pull(table, 200, KEYS - 200)).isEqualTo(values(200, KEYS - 200));
            table.insert(keys(100, 50), values(100, 50)).await();
            table.remove(keys(0, 100)).await();
            Checkpoint exported = table.exportRows(directory, Duration.ofMinutes(1));
            assertThat(exported.rows()).isEqualTo(KEYS - 150);
            // The shards of the lost server have been copied to new mirrors meanwhile.
            while (job.member(1).server().orElseThrow().mirrored().size()
                    + job.member(2).server().orElseThrow().mirrored().size()
                < 5) {
              table.pull(keys(0, 1), new float[2]).await();
            }
            job.job().ranks().get(1).close();
            assertThat(pull(table, 0, 100)).containsOnly(0);
            assertThat(pull(table, 100, 50)).isEqualTo(values(100, 50));
            assertThat(pull(table, 150, 50)).containsOnly(0);
            assertThat(pull(table, 200, KEYS - 200)).isEqualTo(values(200, KEYS - 200));
          });
    }
  }

  @Test
  void checkpointsOfChangesContainInsertionsAndRemovals() {
    try (KvJob job = job("inproc", 2, 1, 3)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ROWS);
            table.push(keys(0, 100), values(0, 100)).await();
            store.checkpoint(directory);
            table.insert(keys(50, 100), values(50, 100)).await();
            assertThat(store.checkpoint(directory).rows()).isEqualTo(100); // the inserted rows
            table.insert(keys(150, 1), values(150, 1)).await();
            table.remove(keys(0, 10)).await();
            assertThat(store.checkpoint(directory).number()).isEqualTo(3);
          });
    }
    try (KvJob job = job("inproc", 3, 1, 7)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ROWS);
            assertThat(store.restore(directory).orElseThrow().number()).isEqualTo(3);
            assertThat(pull(table, 0, 10)).containsOnly(0);
            assertThat(pull(table, 10, 141)).isEqualTo(values(10, 141));
            assertThat(table.statistics().await().rows()).isEqualTo(141);
          });
    }
  }
}
