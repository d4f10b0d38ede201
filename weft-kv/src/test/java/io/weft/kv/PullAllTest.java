// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.observer.ObservedOperation;
import io.weft.observer.ObservedOperation.Service;
import io.weft.observer.OperationObserver;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks pulls of several tables.
@Timeout(120)
class PullAllTest {

  private static final int TABLES = 6;
  private static final int SHARDS = 3;

  /// Counts the requests that a server has answered, by operation.
  private static final class Requests implements OperationObserver {
    private final ConcurrentHashMap<String, AtomicInteger> counts = new ConcurrentHashMap<>();

    @Override
    public void ended(ObservedOperation it, @Nullable CommException failure, long nanos) {
      if (it.service() == Service.KV_SERVER) {
        counts
            .computeIfAbsent(it.name().split(" ")[0], name -> new AtomicInteger())
            .incrementAndGet();
      }
    }

    int of(String name) {
      AtomicInteger count = counts.get(name);
      return count == null ? 0 : count.get();
    }
  }

  private static KvJob job(String transport, int ranks, KvOptions options) {
    return new KvJob(
        transport, ranks, options, it -> it.set(KvConfig.SHARDS, Integer.toString(SHARDS)));
  }

  private static List<KvTable> tables(KvWorker store) throws InterruptedException {
    List<KvTable> tables = new ArrayList<>();
    for (int i = 0; i < TABLES; i++) {
      tables.add(
          store.register(
              TableSpec.rows("t" + i, 1 + 5 * i)
                  .withInitial("uniform:low=-1,high=1", i)
                  .with(i % 2 == 0 ? Consistency.asynchronous() : Consistency.bounded(2))));
    }
    return tables;
  }

  private static List<float[]> pull(List<KvTable> tables, long seed, List<TablePull> pulls) {
    var random = new Random(seed);
    List<float[]> into = new ArrayList<>();
    for (KvTable each : tables) {
      long[] keys = random.longs(random.nextInt(60), 0, 40).toArray(); // with repetitions
      into.add(new float[(int) each.spec().width() * keys.length]);
      pulls.add(new TablePull(each, each.keys(keys), MemorySegment.ofArray(into.getLast())));
    }
    return into;
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void rowsOfManyTablesEqualThoseOfEachByOneRequestForEachShard(String transport) {
    try (KvJob job = job(transport, 3, KvOptions.servers(2))) {
      List<Requests> servers = List.of(new Requests(), new Requests());
      servers.forEach(it -> job.job().ranks().get(servers.indexOf(it)).observe(it));
      job.onWorkers(
          (store, weft) -> {
            List<KvTable> tables = tables(store);
            for (KvTable each : tables) {
              each.push(new long[] {1, 2, 3}, new float[3 * (int) each.spec().width()]).await();
            }
            for (int round = 0; round < 20; round++) {
              List<TablePull> pulls = new ArrayList<>();
              List<float[]> rows = pull(tables, round, pulls);
              KvTable.pullAll(pulls).await();
              for (int i = 0; i < TABLES; i++) {
                float[] alone = new float[rows.get(i).length];
                tables.get(i).pull(pulls.get(i).keys(), MemorySegment.ofArray(alone)).await();
                assertThat(rows.get(i)).as("table %d", i).isEqualTo(alone);
              }
            }
            assertThat(tables.getFirst().counts().pulls()).isEqualTo(40);
          });
      assertThat(servers.stream().mapToInt(it -> it.of("pull-tables")).sum())
          .isBetween(20, 20 * SHARDS);
      assertThat(servers.stream().mapToInt(it -> it.of("pull")).sum()).isGreaterThan(20 * TABLES);
    }
  }

  @Test
  void aPullOfAllWaitsForThePushesOfOtherWorkers() {
    try (KvJob job = job("inproc", 4, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable some = store.register(TableSpec.rows("some", 1));
            KvTable more = store.register(TableSpec.rows("more", 2));
            float[] first = new float[1];
            float[] second = new float[4];
            for (int step = 1; step <= 10; step++) {
              some.push(new long[] {5}, new float[] {1}).await();
              more.push(new long[] {5, 6}, new float[] {1, 2, 3, 4}).await();
              KvTable.pullAll(
                      List.of(
                          new TablePull(some, some.keys(5), MemorySegment.ofArray(first)),
                          new TablePull(more, more.keys(6, 5), MemorySegment.ofArray(second))))
                  .await();
              assertThat(first).containsExactly(2 * step);
              assertThat(second).containsExactly(6 * step, 8 * step, 2 * step, 4 * step);
            }
          });
    }
  }

  @Test
  void anOverduePullOfAllNamesItsCause() {
    try (KvJob job = job("inproc", 3, KvOptions.servers(1).withDeadline(Duration.ofMillis(500)))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("sync", 1));
            if (weft.rank() == 1) {
              table.push(new long[] {5}, new float[] {1}).await();
              assertThatThrownBy(
                      () ->
                          KvTable.pullAll(
                                  List.of(
                                      new TablePull(
                                          table,
                                          table.keys(5),
                                          MemorySegment.ofArray(new float[1]))))
                              .await())
                  .isInstanceOf(CommException.TimedOut.class)
                  .hasMessageContaining("PULL_TABLES of 1 keys of 1 tables")
                  .hasMessageContaining("one of its tables waits for other workers");
            }
          });
    }
  }

  @Test
  void aServerThatIsLostIsReplacedByItsMirror() {
    try (KvJob job = job("tcp", 4, KvOptions.servers(3).withMirrors())) {
      job.onWorkers(
          (store, weft) -> {
            List<KvTable> tables = tables(store);
            List<TablePull> pulls = new ArrayList<>();
            List<float[]> rows = pull(tables, 1, pulls);
            KvTable.pullAll(pulls).await();
            List<float[]> before = rows.stream().map(float[]::clone).toList();
            job.job().ranks().get(1).close();
            KvTable.pullAll(pulls).await();
            for (int i = 0; i < TABLES; i++) {
              assertThat(rows.get(i)).isEqualTo(before.get(i));
            }
          });
    }
  }

  @Test
  void invalidPullsAreRefusedBeforeAnythingIsSent() {
    try (KvJob job = job("inproc", 3, KvOptions.servers(1))) {
      KvTable[] ofEach = new KvTable[2];
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 2));
            ofEach[weft.rank() - 1] = table;
            store.barrier();
            MemorySegment two = MemorySegment.ofArray(new float[2]);
            var valid = new TablePull(table, table.keys(1), two);
            assertThatThrownBy(() -> KvTable.pullAll(List.of()))
                .hasMessageContaining("a pull of no tables");
            assertThatThrownBy(
                    () ->
                        KvTable.pullAll(
                            List.of(valid, new TablePull(table, table.keys(1, 2), two))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("place of 8 bytes for 2 keys of 2 floats, expected 16");
            KvTable other = ofEach[2 - weft.rank()];
            assertThatThrownBy(
                    () -> KvTable.pullAll(List.of(valid, new TablePull(other, other.keys(1), two))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("of different workers");
            KvTable.pullAll(
                    List.of(
                        new TablePull(table, table.keys(), MemorySegment.ofArray(new float[0]))))
                .await();
            store.barrier();
          });
    }
  }
}
