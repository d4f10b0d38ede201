// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Checks checkpoints that are made while workers push and restored on other counts of servers.
@Timeout(180)
class CheckpointTest {

  private static final Logger LOG = LoggerFactory.getLogger(CheckpointTest.class);

  private static final int ROWS = 3000;
  private static final int WIDTH = 5;
  private static final int ROUNDS = 40;

  @TempDir Path directory;

  private static final TableSpec SYNCHRONOUS =
      TableSpec.rows("sync", WIDTH)
          .withRule("adam:lr=0.125")
          .withInitial("uniform:low=-1,high=1", 7);
  private static final TableSpec LATER =
      TableSpec.rows("async", 1).with(Consistency.asynchronous()).with(Slicer.ranges(0, ROWS));

  private static long key(int i) {
    return i * 0x9e3779b97f4a7c15L; // spread over the 64 bits, also negative
  }

  private static long[] keys() {
    long[] keys = new long[ROWS];
    Arrays.setAll(keys, CheckpointTest::key);
    return keys;
  }

  /// Returns the keys that a worker pushes in a round: a third of all keys, shifted in each round.
  private static long[] roundKeys(int round) {
    long[] keys = new long[ROWS / 3];
    Arrays.setAll(keys, i -> key((i * 3 + round) % ROWS));
    return keys;
  }

  private static float[] gradients(int round, int rank) {
    float[] values = new float[ROWS / 3 * WIDTH];
    var random = new Random(round * 31L + rank);
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(-8, 8);
    }
    return values;
  }

  /// Returns the rows after each round, from a table that is not saved.
  private static float[][] model() {
    float[][] after = new float[ROUNDS + 1][];
    try (KvJob job = new KvJob("inproc", 3, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(SYNCHRONOUS);
            for (int round = 0; round <= ROUNDS; round++) {
              if (round > 0) {
                table.push(roundKeys(round), gradients(round, weft.rank() - 1)).await();
              }
              float[] rows = new float[ROWS * WIDTH];
              table.pull(keys(), rows).await();
              if (weft.rank() == 1) {
                after[round] = rows;
              }
            }
          });
    }
    return after;
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 5})
  void checkpointsMadeUnderLoadAreRestoredOnOtherServers(int servers) throws Exception {
    float[][] model = model();
    List<Checkpoint> made = new CopyOnWriteArrayList<>();
    var pushed = new AtomicReference<long[]>();
    var longest = new AtomicLong();
    try (KvJob job =
        new KvJob(
            "tcp",
            5,
            KvOptions.servers(3),
            it -> it.set(KvConfig.SHARDS, "7").set(KvConfig.THREADS, "2"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(SYNCHRONOUS);
            KvTable counters = store.register(LATER);
            var over = new AtomicBoolean();
            Thread saving =
                Thread.ofPlatform()
                    .start(
                        () -> {
                          while (weft.rank() == 3 && !over.get()) {
                            try {
                              made.add(
                                  store.checkpoint(CheckpointOptions.in(directory).keeping(100)));
                            } catch (IOException | InterruptedException unexpected) {
                              throw new IllegalStateException(unexpected);
                            }
                          }
                        });
            long[] sum = new long[ROWS];
            for (int round = 1; round <= ROUNDS; round++) {
              table.push(roundKeys(round), gradients(round, weft.rank() - 3)).await();
              long[] few = {round, 2L * round, 1000 + round};
              long begin = Ticker.SYSTEM.nanos();
              counters.push(few, new float[] {1, 1, 1}).await();
              longest.accumulateAndGet(Ticker.SYSTEM.nanos() - begin, Math::max);
              for (long each : few) {
                sum[(int) each]++;
              }
            }
            over.set(true);
            saving.join();
            store.barrier();
            if (weft.rank() == 3) {
              pushed.set(sum);
              made.add(store.checkpoint(CheckpointOptions.in(directory).keeping(100)));
            }
            store.barrier();
          });
    }
    LOG.info("longest push while checkpoints were written: {} us", longest.get() / 1000);
    assertThat(made.size()).isGreaterThan(2);
    assertThat(made.getFirst().clocks().get("sync")).isLessThan(ROUNDS);
    for (Checkpoint each : List.of(made.getFirst(), made.get(made.size() / 2), made.getLast())) {
      restored(servers, each, made.getLast(), model, pushed.get());
    }
  }

  /// Restores a checkpoint from a copy without the later checkpoints and compares every row.
  private void restored(
      int servers, Checkpoint which, Checkpoint last, float[][] model, long[] pushed)
      throws IOException {
    Path copy = Files.createDirectory(directory.resolve("restored-" + which.number()));
    for (int number = 1; number <= which.number(); number++) {
      Path from = directory.resolve("checkpoint-%06d".formatted(number));
      Path to = copy.resolve(from.getFileName());
      Files.createDirectory(to);
      for (Path file : files(from)) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
    int clock = Math.toIntExact(which.clocks().get("sync"));
    try (KvJob job = new KvJob("inproc", servers + 2, KvOptions.servers(servers))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(SYNCHRONOUS);
            KvTable counters = store.register(LATER);
            Checkpoint found = store.restore(copy).orElseThrow();
            assertThat(found.number()).isEqualTo(which.number());
            assertThat(found.refused()).isEmpty();
            float[] rows = new float[ROWS * WIDTH];
            table.pull(keys(), rows).await();
            assertThat(rows).isEqualTo(model[clock]);
            if (clock < ROUNDS) {
              store.barrier();
              table.push(roundKeys(clock + 1), gradients(clock + 1, weft.rank() - servers)).await();
              table.pull(keys(), rows).await();
              assertThat(rows).isEqualTo(model[clock + 1]); // requires Adam's slots and step
            }
            long[] all = new long[ROWS];
            Arrays.setAll(all, i -> i);
            float[] counted = new float[ROWS];
            counters.pull(all, counted).await();
            for (int i = 0; i < ROWS; i++) {
              if (which == last) {
                assertThat(counted[i]).isEqualTo(2f * pushed[i]);
              } else {
                assertThat(counted[i]).isBetween(0f, 2f * pushed[i]);
              }
            }
          });
    }
  }

  private static List<Path> files(Path in) throws IOException {
    try (var entries = Files.list(in)) {
      return entries.sorted().toList();
    }
  }

  /// Saves a table of few rows twice: first all rows, then the changed rows.
  private void small() {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(LATER);
            table.push(new long[] {1, 2, 3}, new float[] {1, 2, 3}).await();
            assertThat(store.checkpoint(directory).rows()).isEqualTo(3);
            table.push(new long[] {2, 4}, new float[] {10, 20}).await();
            assertThat(store.checkpoint(directory).rows()).isEqualTo(2);
          });
    }
  }

  private void onOneWorker(KvJob.Body body) {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(body);
    }
  }

  private static float[] pull(KvTable table) throws InterruptedException {
    float[] values = new float[4];
    table.pull(new long[] {1, 2, 3, 4}, values).await();
    return values;
  }

  @Test
  void aCheckpointOfChangesExtendsTheOneBefore() {
    small();
    onOneWorker(
        (store, weft) -> {
          KvTable table = store.register(LATER);
          Checkpoint found = store.restore(directory).orElseThrow();
          assertThat(found.number()).isEqualTo(2);
          assertThat(pull(table)).containsExactly(1, 12, 3, 20);
        });
  }

  @Test
  void aTornCheckpointIsRefusedAndTheOneBeforeIsRestored() throws IOException {
    small();
    Path torn = directory.resolve("checkpoint-000002").resolve("table-0000-shard-00000");
    Files.write(torn, Arrays.copyOf(Files.readAllBytes(torn), 100));
    onOneWorker(
        (store, weft) -> {
          KvTable table = store.register(LATER);
          Checkpoint found = store.restore(directory).orElseThrow();
          assertThat(found.number()).isEqualTo(1);
          assertThat(found.refused()).hasSize(1);
          assertThat(found.refused().getFirst())
              .contains(torn.toString(), "offset", "100", "expected");
          assertThat(pull(table)).containsExactly(1, 2, 3, 0);
        });
  }

  @Test
  void aCheckpointOfAnotherJobOrTableIsRefused() {
    small();
    onOneWorker(
        (store, weft) -> {
          var unused = store.register(LATER);
          assertThatThrownBy(() -> store.restore(CheckpointOptions.in(directory).named("other")))
              .isInstanceOf(IOException.class)
              .hasMessageContaining("it is of the job '', expected 'other'")
              .hasMessageContaining("manifest");
        });
    onOneWorker(
        (store, weft) -> {
          var unused = store.register(TableSpec.rows("async", 2));
          assertThatThrownBy(() -> store.restore(directory))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining(
                  "table 'async' was saved with another specification than it is registered with:"
                      + " floats: '1', now '2'")
              .hasMessageNotContaining("consistency");
        });
    onOneWorker(
        (store, weft) -> {
          assertThatThrownBy(() -> store.restore(directory))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("is not registered");
        });
  }

  @Test
  void restoreAfterAPushIsRefused() {
    small();
    onOneWorker(
        (store, weft) -> {
          KvTable table = store.register(LATER);
          table.push(new long[] {1}, new float[] {1}).await();
          assertThatThrownBy(() -> store.restore(directory))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("before the first");
        });
  }

  @Test
  void anEmptyDirectoryRestoresNothingAndOldCheckpointsAreRemoved() {
    onOneWorker(
        (store, weft) -> {
          KvTable table = store.register(LATER);
          assertThat(store.restore(directory)).isEmpty();
          CheckpointOptions options = CheckpointOptions.in(directory).keeping(2).withFullEvery(3);
          for (int i = 1; i <= 8; i++) {
            table.push(new long[] {i}, new float[] {i}).await();
            Checkpoint made = store.checkpoint(options);
            assertThat(made.rows()).isEqualTo(i % 3 == 1 ? i : 1);
          }
          // Checkpoints 7 and 8 are kept, because 8 needs 7, which has all rows.
          assertThat(files(directory).stream().map(it -> it.getFileName().toString()))
              .containsExactly("checkpoint-000007", "checkpoint-000008");
        });
  }

  /// A tensor of one part is stored on one shard. The two other shards have no part of it.
  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void aSynchronousTensorWithFewerPartsThanShardsIsSaved(int pushes) {
    TableSpec spec = TableSpec.tensor("bias", 10);
    try (KvJob job = new KvJob("inproc", 5, KvOptions.servers(3))) {
      job.onWorkers(
          (store, weft) -> {
            KvTensor bias = store.registerTensor(spec);
            for (int i = 0; i < pushes; i++) {
              bias.push(MemorySegment.ofArray(ones())).await();
            }
            store.barrier();
            if (weft.rank() == 3) {
              assertThat(store.checkpoint(directory).clocks()).containsEntry("bias", (long) pushes);
            }
            store.barrier();
            bias.push(MemorySegment.ofArray(ones())).await();
          });
    }
    try (KvJob job = new KvJob("inproc", 4, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTensor bias = store.registerTensor(spec);
            assertThat(store.restore(directory)).isPresent();
            store.barrier();
            float[] found = new float[10];
            bias.pull(MemorySegment.ofArray(found)).await();
            assertThat(found).containsOnly(2f * pushes);
            store.barrier();
            bias.push(MemorySegment.ofArray(ones())).await();
            bias.pull(MemorySegment.ofArray(found)).await();
            assertThat(found).containsOnly(2f * pushes + 2);
          });
    }
  }

  /// A checkpoint omits values that no worker has used, so first values count after a restore.
  @Test
  void firstValuesCountAfterATensorWasSavedWithoutValues() {
    TableSpec spec = TableSpec.tensor("bias", 10);
    onOneWorker(
        (store, weft) -> {
          var unused = store.registerTensor(spec);
          var saved = store.checkpoint(directory);
          assertThat(saved.clocks()).containsEntry("bias", 0L);
        });
    onOneWorker(
        (store, weft) -> {
          KvTensor bias = store.registerTensor(spec);
          assertThat(store.restore(directory)).isPresent();
          bias.init(MemorySegment.ofArray(ones())).await();
          float[] found = new float[10];
          bias.pull(MemorySegment.ofArray(found)).await();
          assertThat(found).containsOnly(1);
        });
  }

  private static float[] ones() {
    float[] ones = new float[10];
    Arrays.fill(ones, 1);
    return ones;
  }

  @Test
  void aFailedCheckpointDoesNotBlockTheNextOne() {
    try (KvJob job = new KvJob("inproc", 3, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(SYNCHRONOUS);
            table.push(roundKeys(1), gradients(1, weft.rank() - 1)).await();
            store.barrier();
            if (weft.rank() == 1) {
              assertThatThrownBy(
                      () ->
                          store.checkpoint(
                              CheckpointOptions.in(directory).within(Duration.ofNanos(1))))
                  .isInstanceOf(CommException.class);
              assertThat(store.checkpoint(directory).clocks()).containsEntry("sync", 1L);
            }
            store.barrier();
            table.push(roundKeys(2), gradients(2, weft.rank() - 1)).await();
          });
    }
  }

  /// Returns a directory with a long path: a checkpoint's directory can be created in it, but no
  /// file in that directory.
  private static Path whereServersCannotWrite(Path directory) throws IOException {
    int longest = 4095 - "/checkpoint-000001".length();
    Path path = directory.toAbsolutePath();
    while (path.toString().length() < longest - 1) {
      int left = longest - path.toString().length() - 1;
      path = path.resolve("d".repeat(left > 202 ? 200 : left));
    }
    return Files.createDirectories(path);
  }

  @Test
  void aCheckpointThatCannotWriteFilesDoesNotBlockTheNextOne() throws IOException {
    Path narrow = whereServersCannotWrite(directory.resolve("narrow"));
    try (KvJob job = new KvJob("inproc", 4, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(SYNCHRONOUS);
            table.push(roundKeys(1), gradients(1, weft.rank() - 2)).await();
            store.barrier();
            if (weft.rank() == 2) {
              assertThatThrownBy(() -> store.checkpoint(narrow))
                  .isInstanceOf(CommException.class)
                  .hasMessageContaining("its part of the checkpoint is not written");
              assertThat(store.checkpoint(directory).clocks()).containsEntry("sync", 1L);
            }
            store.barrier();
            table.push(roundKeys(2), gradients(2, weft.rank() - 2)).await();
          });
    }
  }

  @Test
  void anUnfinishedCheckpointIsNotRestored(@TempDir Path directory) throws Exception {
    Files.createDirectories(directory.resolve("checkpoint-000001"));
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 1));
            assertThat(store.restore(directory)).isEmpty();
            table.push(new long[] {1}, new float[] {1}).await();
            assertThat(store.checkpoint(directory).number()).isEqualTo(2);
          });
    }
  }

  @Test
  void aCheckpointThatCannotBeWrittenFailsAndTheTableContinues() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    onOneWorker(
        (store, weft) -> {
          KvTable table = store.register(SYNCHRONOUS);
          assertThatThrownBy(() -> store.checkpoint(file)).isInstanceOf(IOException.class);
          table.push(new long[] {1}, new float[WIDTH]).await();
          assertThat(store.checkpoint(directory).clocks()).containsEntry("sync", 1L);
        });
  }
}
