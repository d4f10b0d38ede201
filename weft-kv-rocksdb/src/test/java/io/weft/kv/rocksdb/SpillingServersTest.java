// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.kv.Checkpoint;
import io.weft.kv.CheckpointOptions;
import io.weft.kv.KvOptions;
import io.weft.kv.KvTable;
import io.weft.kv.RowFiles;
import io.weft.kv.function.KvFunctions;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks servers whose tables are ten times as large as the memory for their rows.
@Timeout(180)
class SpillingServersTest {

  private static final int WIDTH = 8;
  private static final int KEYS = 30_000;
  private static final int IN_REQUEST = 500;

  /// Keeps about 1,000 of the 10,000 rows of each of 3 shards in memory, with Adagrad's slots.
  private static final Retention SPILLED = Retention.ALL.spilledBeyond(96 << 10);

  private static final TableSpec PLAIN =
      TableSpec.rows("plain", WIDTH)
          .withRule("adagrad:lr=0.125")
          .withInitial("uniform:low=-1,high=1", 7);

  @TempDir Path directory;

  /// Returns a table with constant initial values, because random ones depend on the name.
  private static TableSpec spec(String name, Retention retention) {
    return TableSpec.rows(name, WIDTH)
        .withRule("adagrad:lr=0.125")
        .withInitial("constant:value=1", 0)
        .with(retention);
  }

  /// Returns a table whose rows may be inserted and removed after pushes.
  private static TableSpec edited(String name, Retention retention) {
    return spec(name, retention).with(Consistency.asynchronous());
  }

  private static long key(int i) {
    return i * 0x9e3779b97f4a7c15L;
  }

  private static long[] keys(int first, int count) {
    long[] keys = new long[count];
    Arrays.setAll(keys, i -> key(first + i));
    return keys;
  }

  /// Returns random keys, with a few frequent ones.
  private static long[] some(Random random) {
    return random
        .ints(IN_REQUEST, 0, KEYS)
        .map(it -> random.nextInt(4) == 0 ? it % 500 : it)
        .mapToLong(SpillingServersTest::key)
        .toArray();
  }

  private static float[] gradients(Random random, int rows) {
    float[] values = new float[rows * WIDTH];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(-8, 8);
    }
    return values;
  }

  /// Pushes rows of all keys to both tables.
  private static void fill(KvTable plain, KvTable spilled, long seed) throws Exception {
    var random = new Random(seed);
    for (int first = 0; first < KEYS; first += IN_REQUEST) {
      long[] keys = keys(first, IN_REQUEST);
      float[] values = gradients(random, IN_REQUEST);
      plain.push(keys, values).await();
      spilled.push(keys, values).await();
    }
  }

  private static void compare(KvTable plain, KvTable spilled) throws Exception {
    float[] expected = new float[IN_REQUEST * WIDTH];
    float[] seen = new float[IN_REQUEST * WIDTH];
    for (int first = 0; first < KEYS; first += IN_REQUEST) {
      long[] keys = keys(first, IN_REQUEST);
      plain.pull(keys, expected).await();
      spilled.pull(keys, seen).await();
      assertThat(seen).as("keys from %d on", first).isEqualTo(expected);
    }
  }

  private static void isSpilled(KvTable table) throws Exception {
    TableStatistics its = table.statistics().await();
    assertThat(its.rows()).isEqualTo(KEYS);
    assertThat(its.rows() - its.spilled().rows()).isBetween(100L, 3 * (1100L + IN_REQUEST));
    assertThat(its.spilled().returned()).isPositive();
  }

  private static long files(Path in) throws IOException {
    try (Stream<Path> all = Files.walk(in)) {
      return all.filter(it -> !it.equals(in)).count();
    }
  }

  @Test
  void insertedAndRemovedRowsOnDiskEqualThoseInMemory() throws Exception {
    try (SpillJob job = new SpillJob(3, KvOptions.servers(2), directory.resolve("spill"), "64M")) {
      job.onWorkers(
          (store, weft) -> {
            KvTable plain = store.register(edited("plain", Retention.ALL));
            KvTable spilled = store.register(edited("spilled", SPILLED));
            fill(plain, spilled, 1);
            var random = new Random(5);
            for (int round = 0; round < 40; round++) {
              long[] keys = Arrays.stream(some(random)).distinct().toArray();
              float[] values = gradients(random, keys.length);
              boolean removes = round % 4 == 3;
              for (KvTable each : List.of(plain, spilled)) {
                if (removes) {
                  each.remove(keys).await();
                } else {
                  each.insert(keys, values).await();
                }
                if (round % 3 == 0) {
                  each.push(keys, values).await(); // with the slots of inserted rows
                }
              }
            }
            compare(plain, spilled);
            long rows = plain.statistics().await().rows();
            assertThat(spilled.statistics().await().rows()).isEqualTo(rows).isLessThan(KEYS);
            assertThat(spilled.statistics().await().spilled().rows()).isGreaterThan(KEYS / 2);
            Path files = directory.resolve("rows");
            assertThat(spilled.exportRows(files, Duration.ofMinutes(1)).rows()).isEqualTo(rows);
            KvTable imported = store.register(edited("imported", SPILLED));
            imported.importRows(RowFiles.open(files, "spilled"), RowFiles.Slots.KEPT);
            compare(plain, imported);
            assertThat(imported.statistics().await().rows()).isEqualTo(rows);
          });
    }
  }

  @Test
  void rowsOnDiskEqualThoseInMemoryAndTheirFilesAreRemovedAtTheEnd() throws Exception {
    try (SpillJob job = new SpillJob(4, KvOptions.servers(2), directory, "64M")) {
      job.onWorkers(
          (store, weft) -> {
            KvTable plain = store.register(spec("plain", Retention.ALL));
            KvTable spilled = store.register(spec("spilled", SPILLED));
            fill(plain, spilled, weft.rank());
            var random = new Random(weft.rank());
            for (int round = 0; round < 60; round++) {
              long[] keys = some(random);
              float[] values = gradients(random, keys.length);
              plain.push(keys, values).await();
              spilled.push(keys, values).await();
              float[] expected = new float[values.length];
              plain.pull(keys, expected).await();
              spilled.pull(keys, values).await();
              assertThat(values).isEqualTo(expected);
            }
            compare(plain, spilled);
            isSpilled(spilled);
            assertThat(spilled.statistics().await().spilled().bytes()).isPositive();
            double norm = plain.call(KvFunctions.norm()).await();
            assertThat(spilled.call(KvFunctions.norm()).await()).isCloseTo(norm, within(norm));
            store.barrier();
          });
      assertThat(files(directory)).isGreaterThan(4);
    }
    assertThat(files(directory)).isZero();
  }

  private static Offset<Double> within(double of) {
    return Offset.offset(1e-9 * of);
  }

  @Test
  void checkpointsContainAllRowsAndAreRestoredInMemoryAndOnDisk() throws Exception {
    Path saved = Files.createDirectory(directory.resolve("saved"));
    Path scratch = Files.createDirectory(directory.resolve("scratch"));
    float[][] all = new float[1][];
    CheckpointOptions options = CheckpointOptions.in(saved).withFullEvery(8);
    TableSpec ofWorkers = spec("users", SPILLED).with(Consistency.asynchronous());
    try (SpillJob job = new SpillJob(2, KvOptions.servers(1), scratch, "64M")) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(ofWorkers);
            KvTable plain = store.register(spec("plain", Retention.ALL));
            fill(plain, table, 1);
            store.checkpoint(options);
            var random = new Random(2);
            for (int i = 0; i < 5; i++) {
              long[] keys = some(random);
              table.push(keys, gradients(random, keys.length)).await();
            }
            long full = bytes(saved.resolve("checkpoint-000001"));
            Checkpoint changed = store.checkpoint(options);
            assertThat(changed.number()).isEqualTo(2);
            assertThat(bytes(saved.resolve("checkpoint-000002"))).isLessThan(full / 2);
            all[0] = new float[KEYS * WIDTH];
            table.pull(keys(0, KEYS), all[0]).await();
          });
    }
    for (Retention retention : new Retention[] {Retention.ALL, SPILLED}) {
      try (SpillJob job = new SpillJob(3, KvOptions.servers(2), scratch, "64M")) {
        job.onWorkers(
            (store, weft) -> {
              KvTable table =
                  store.register(spec("users", retention).with(Consistency.asynchronous()));
              store.register(spec("plain", Retention.ALL));
              Optional<Checkpoint> found = store.restore(options);
              assertThat(found.orElseThrow().number()).isEqualTo(2);
              assertThat(found.get().refused()).isEmpty();
              float[] rows = new float[KEYS * WIDTH];
              table.pull(keys(0, KEYS), rows).await();
              assertThat(rows).isEqualTo(all[0]); // read in parts that fit into memory
              TableStatistics its = table.statistics().await();
              assertThat(its.rows()).isEqualTo(KEYS);
              assertThat(its.spilled().rows() > KEYS / 2).isEqualTo(retention.spills());
            });
      }
    }
  }

  private static long bytes(Path in) throws IOException {
    try (Stream<Path> files = Files.list(in)) {
      return files.mapToLong(it -> it.toFile().length()).sum();
    }
  }

  @Test
  void aMirrorTakesOverATableThatIsLargerThanMemory() throws Exception {
    var filled = new CountDownLatch(1);
    try (SpillJob job = new SpillJob(4, KvOptions.servers(3).withMirrors(), directory, "64M")) {
      Thread leaving =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      assertThat(filled.await(120, TimeUnit.SECONDS)).isTrue();
                      job.ranks().get(1).close();
                    } catch (InterruptedException unexpected) {
                      Thread.currentThread().interrupt();
                    }
                  });
      job.onWorkers(
          (store, weft) -> {
            KvTable plain = store.register(spec("plain", Retention.ALL));
            KvTable spilled = store.register(spec("spilled", SPILLED));
            fill(plain, spilled, 3);
            filled.countDown();
            var random = new Random(4);
            for (int round = 0; round < 60; round++) {
              long[] keys = some(random);
              float[] values = gradients(random, keys.length);
              plain.push(keys, values).await();
              spilled.push(keys, values).await();
            }
            leaving.join();
            compare(plain, spilled);
            isSpilled(spilled);
          });
    }
  }

  @Test
  void rowsOnDiskAreEvicted() throws Exception {
    try (SpillJob job = new SpillJob(2, KvOptions.servers(1), directory, "64M")) {
      job.onWorkers(
          (store, weft) -> {
            TableSpec old = spec("old", SPILLED.evictedAfter(20)).with(Consistency.asynchronous());
            KvTable table = store.register(old);
            for (int first = 0; first < KEYS; first += 5 * IN_REQUEST) {
              table.push(keys(first, 5 * IN_REQUEST), ones(5 * IN_REQUEST)).await();
            }
            assertThat(table.statistics().await().spilled().rows()).isGreaterThan(KEYS / 2);
            for (int i = 0; i < 100; i++) {
              table.push(keys(0, 1000), ones(1000)).await();
            }
            TableStatistics its = table.statistics().await();
            assertThat(its.rows()).isEqualTo(1000);
            assertThat(its.evicted()).isEqualTo(KEYS - 1000);
            float[] anew = new float[WIDTH];
            table.pull(keys(KEYS - 1, 1), anew).await();
            assertThat(anew).containsOnly(1);
          });
    }
  }

  private static float[] ones(int rows) {
    float[] ones = new float[rows * WIDTH];
    Arrays.fill(ones, 1);
    return ones;
  }

  @Test
  void newRowsAreRefusedWhenTheDiskFailsAndStoredRowsStayUsable() throws Exception {
    Path saved = Files.createDirectory(directory.resolve("saved"));
    Path scratch = Files.createDirectory(directory.resolve("scratch"));
    try (SpillJob job = new SpillJob(2, KvOptions.servers(1), scratch, "64M")) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(spec("users", SPILLED).with(Consistency.asynchronous()));
            KvTable other = store.register(PLAIN.with(Consistency.asynchronous()));
            other.push(keys(0, 10), ones(10)).await();
            table.push(keys(0, IN_REQUEST), ones(IN_REQUEST)).await();
            delete(scratch);
            int[] pushed = {IN_REQUEST};
            assertThatThrownBy(
                    () -> {
                      while (pushed[0] < 100 * KEYS) {
                        table.push(keys(pushed[0], IN_REQUEST), ones(IN_REQUEST)).await();
                        pushed[0] += IN_REQUEST;
                      }
                    })
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("table 'users', shard ")
                .hasMessageContaining(
                    "no room in memory for more rows, and the store accepts none: Rocks")
                .hasMessageContaining("No such file or directory");
            float[] expected = new float[IN_REQUEST * WIDTH];
            table.pull(keys(0, IN_REQUEST), expected).await();
            float[] seen = new float[IN_REQUEST * WIDTH];
            for (int first = 0; first < pushed[0]; first += IN_REQUEST) {
              table.pull(keys(first, IN_REQUEST), seen).await();
              assertThat(seen).as("keys from %d on", first).isEqualTo(expected);
            }
            table.push(keys(0, IN_REQUEST), ones(IN_REQUEST)).await();
            other.push(keys(0, 10), ones(10)).await();
            store.checkpoint(CheckpointOptions.in(saved));
            assertThat(bytes(saved.resolve("checkpoint-000001")))
                .isGreaterThan(pushed[0] * (16L + 8 * WIDTH));
          });
    }
  }

  private static void delete(Path in) throws IOException {
    try (Stream<Path> all = Files.walk(in)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }
}
