// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.kv.RowFiles.Slots;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks the export of a table's rows to files, their import, and restores of some tables.
@Timeout(120)
class RowFilesTest {

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final int ROWS = 12_000;
  private static final int WIDTH = 16;
  private static final TableSpec ADAM =
      TableSpec.rows("users", WIDTH).withRule("adam:lr=0.1").with(Consistency.asynchronous());

  @TempDir Path directory;

  private static KvJob job(int servers, int workers, int shards) {
    return new KvJob(
        "inproc",
        servers + workers,
        KvOptions.servers(servers),
        it -> it.set(KvConfig.SHARDS, Integer.toString(shards)));
  }

  private static long[] keys() {
    long[] keys = new long[ROWS];
    Arrays.setAll(keys, i -> i * 0x9e3779b97f4a7c15L);
    return keys;
  }

  private static void push(KvTable table, long seed) throws InterruptedException {
    var random = new Random(seed);
    float[] gradients = new float[ROWS * WIDTH];
    for (int i = 0; i < gradients.length; i++) {
      gradients[i] = random.nextFloat() - 0.5f;
    }
    table.push(keys(), gradients).await();
  }

  private static float[] pull(KvTable table) throws InterruptedException {
    float[] rows = new float[ROWS * WIDTH];
    table.pull(keys(), rows).await();
    return rows;
  }

  /// An import with slots continues Adam with the same bits.
  @ParameterizedTest
  @CsvSource({"1, 2", "4, 9"})
  void exportedRowsAreImportedByOtherServersAndShards(int servers, int shards) {
    float[][] rows = new float[2][];
    try (KvJob job = job(3, 1, 5)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ADAM);
            push(table, 1);
            push(table, 2);
            assertThat(table.exportRows(directory, LIMIT).rows()).isEqualTo(ROWS);
            rows[0] = pull(table);
            push(table, 3);
            rows[1] = pull(table);
          });
    }
    try (KvJob job = job(servers, 1, shards)) {
      job.onWorkers(
          (store, weft) -> {
            RowFiles files = RowFiles.open(directory, "users");
            KvTable table = store.register(ADAM.withRule("adam:lr=0.1"));
            assertThat(table.importRows(files, Slots.KEPT)).isEqualTo(ROWS);
            assertThat(pull(table)).isEqualTo(rows[0]);
            push(table, 3);
            assertThat(pull(table)).isEqualTo(rows[1]); // requires Adam's slots and step
            KvTable plain = store.register(TableSpec.rows("plain", WIDTH));
            assertThat(plain.importRows(files, Slots.INITIAL)).isEqualTo(ROWS);
            assertThat(pull(plain)).isEqualTo(rows[0]);
          });
    }
  }

  /// Exports while rows change. Each row is as before or after a push, and each occurs once.
  @Test
  void rowsAreVisitedOnceWithValuesAndSlots() throws Exception {
    try (KvJob job = job(2, 2, 3)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ADAM.withRule("momentum:lr=1,momentum=0"));
            float[] ones = new float[ROWS * WIDTH];
            Arrays.fill(ones, 1);
            if (weft.rank() == 2) {
              table.push(keys(), ones).await();
            }
            store.barrier();
            if (weft.rank() == 3) {
              table.exportRows(directory, LIMIT);
              table.exportRows(directory, LIMIT);
            } else {
              for (int i = 0; i < 20; i++) {
                table.push(keys(), ones).await();
              }
            }
            store.barrier();
          });
    }
    RowFiles files = RowFiles.open(directory, "users");
    assertThat(files.rows()).isEqualTo(ROWS);
    assertThat(files.spec().rule()).isEqualTo("momentum:lr=1,momentum=0");
    var seen = new TreeMap<Long, Float>();
    files.forEach(
        (key, step, floats) -> {
          assertThat(floats.byteSize()).isEqualTo(4L * 2 * WIDTH);
          float value = floats.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, 0);
          for (int i = 1; i < WIDTH; i++) {
            assertThat(floats.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i)).isEqualTo(value);
          }
          assertThat(seen.put(key, value)).as("twice").isNull();
        });
    assertThat(seen.keySet())
        .containsExactlyInAnyOrderElementsOf(Arrays.stream(keys()).boxed().toList());
    assertThat(seen.values()).allSatisfy(it -> assertThat(it).isBetween(-21f, -1f));
  }

  @Test
  void anExportDoesNotChangeWhatLaterCheckpointsContain() {
    try (KvJob job = job(1, 1, 2)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ADAM.withRule("sum"));
            push(table, 1);
            store.checkpoint(directory.resolve("checkpoints"));
            table.insert(new long[] {0, 1}, new float[2 * WIDTH]).await();
            table.exportRows(directory.resolve("rows"), LIMIT);
            assertThat(store.checkpoint(directory.resolve("checkpoints")).rows()).isEqualTo(2);
            assertThatThrownBy(() -> table.exportRows(directory.resolve("checkpoints"), LIMIT))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(
                    "it has checkpoints of the job '', and this is 'rows of users'");
          });
    }
  }

  @Test
  void unsuitableFilesAreRefusedAtTheCall() throws IOException {
    assertThatThrownBy(() -> RowFiles.open(directory, "users"))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("no export of table 'users' was finished there");
    try (KvJob job = job(1, 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ADAM);
            table.exportRows(directory, LIMIT); // of no rows
            RowFiles files = RowFiles.open(directory, "users");
            assertThat(table.importRows(files, Slots.KEPT)).isZero();
            KvTable narrow = store.register(TableSpec.rows("narrow", 2));
            assertThatThrownBy(() -> narrow.importRows(files, Slots.INITIAL))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                    "table 'narrow': exported rows of 16 floats", "expected 2 floats");
            KvTable other = store.register(TableSpec.rows("other", WIDTH).withRule("adagrad"));
            assertThatThrownBy(() -> other.importRows(files, Slots.KEPT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("with rule 'adam:lr=0.1'", "the slots of 'adagrad'");
            push(table, 1);
            table.exportRows(directory, LIMIT);
          });
    }
    Path file = directory.resolve("checkpoint-000002").resolve("table-0000-shard-00000");
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2]++;
    Files.write(file, bytes);
    assertThatThrownBy(() -> RowFiles.open(directory, "users"))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(file.toString(), "offset");
  }

  @Test
  void someTablesOfACheckpointAreRestoredIntoAJobThatHasOthers() {
    TableSpec items = TableSpec.rows("items", 1).with(Consistency.asynchronous());
    TableSpec meeting = TableSpec.rows("meeting", 1);
    try (KvJob job = job(2, 1, 3)) {
      job.onWorkers(
          (store, weft) -> {
            push(store.register(ADAM), 1);
            store.register(items).push(new long[] {7}, new float[] {3}).await();
            KvTable met = store.register(meeting);
            met.push(new long[] {1}, new float[] {5}).await();
            met.push(new long[] {1}, new float[] {5}).await();
            store.checkpoint(directory);
          });
    }
    try (KvJob job = job(1, 2, 2)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable users = store.register(TableSpec.rows("new users", 4));
            KvTable other = store.register(items);
            KvTable met = store.register(meeting);
            CheckpointOptions some = CheckpointOptions.in(directory);
            assertThatThrownBy(() -> store.restore(some.ofTables("meeting", "users")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[meeting, users]", "only [meeting]");
            assertThatThrownBy(() -> store.restore(some.ofTables("new users")))
                .hasMessageContaining("[new users] are to be restored from");
            store.barrier();
            Checkpoint restored = store.restore(some.ofTables("meeting")).orElseThrow();
            assertThat(restored.clocks()).containsEntry("meeting", 2L);
            float[] pulled = new float[1];
            other.pull(new long[] {7}, pulled).await();
            assertThat(pulled[0]).isZero();
            users.push(new long[] {1}, new float[4]).await();
            met.push(new long[] {1}, new float[] {1}).await();
            met.pull(new long[] {1}, pulled).await();
            assertThat(pulled[0]).isEqualTo(12);
          });
    }
  }

  @Test
  void aCheckpointOfSomeTablesIsRestored() {
    TableSpec items = TableSpec.rows("items", 1).with(Consistency.asynchronous());
    CheckpointOptions some = CheckpointOptions.in(directory).ofTables("items");
    try (KvJob job = job(1, 1, 2)) {
      job.onWorkers(
          (store, weft) -> {
            push(store.register(ADAM), 1);
            store.register(items).push(new long[] {7}, new float[] {3}).await();
            assertThat(store.checkpoint(some).rows()).isEqualTo(1);
          });
    }
    try (KvJob job = job(1, 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(items);
            assertThat(store.restore(directory)).isPresent();
            float[] pulled = new float[1];
            table.pull(new long[] {7}, pulled).await();
            assertThat(pulled[0]).isEqualTo(3);
          });
    }
  }
}
