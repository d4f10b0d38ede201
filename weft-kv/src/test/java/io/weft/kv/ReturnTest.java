// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that another process can take the place of a lost server while workers push. Here it is a
/// rank that belongs to the job from the start and is at first neither server nor worker. The
/// simulation of `tools/simulate kv-faults` covers the moments and combinations of losses.
@Timeout(180)
class ReturnTest {

  private static final int SERVERS = 3;
  private static final int KEYS = 2000;
  private static final TableSpec COUNTERS =
      TableSpec.rows("counters", 2).with(Consistency.asynchronous());

  /// A job of nine ranks: servers, two workers and spare ranks.
  private static final class Job implements AutoCloseable {
    private static final int RANKS = 9;
    private final List<Integer> workers;
    private final KvOptions options;
    private final LocalJob ranks;
    private final ConcurrentSkipListMap<Integer, KvNode> members = new ConcurrentSkipListMap<>();

    Job(String transport, KvOptions options, String shards) {
      int servers = options.serversOf(RANKS).size();
      this.workers = List.of(servers, servers + 1);
      this.options = options;
      this.ranks =
          LocalJob.start(
              RANKS,
              WeftConfig.builder()
                  .transport(transport)
                  .set(KvConfig.SHARDS, shards)
                  .set(KvConfig.THREADS, "2")
                  .set(KvConfig.PARTITION, "8K")
                  .build());
      for (int rank = 0; rank < servers + 2; rank++) {
        members.put(rank, KvNode.open(ranks.ranks().get(rank), options, workers));
      }
    }

    KvServer joins(int rank) {
      Weft weft = ranks.ranks().get(rank);
      KvNode joined =
          KvNode.returning(
              weft, Layout.of(weft, options, workers), options, KvServer.RunBy.THREADS);
      members.put(rank, joined);
      return joined.server().orElseThrow();
    }

    void loses(int rank) {
      ranks.ranks().get(rank).close();
    }

    KvWorker store(int worker) {
      return members.get(workers.get(worker)).worker();
    }

    KvServer server(int rank) {
      return members.get(rank).server().orElseThrow();
    }

    @Override
    public void close() {
      members.values().forEach(KvNode::close);
      ranks.close();
    }
  }

  private static void await(KvServer server, Set<Integer> shards) throws Exception {
    until(() -> server.served().equals(shards), () -> describe(server) + ", expected " + shards);
  }

  private static String describe(KvServer server) {
    return "it serves %s, of which %s have mirrors".formatted(server.served(), server.mirrored());
  }

  /// Waits until the condition holds. It polls because servers do not report their exchanges.
  private static void until(BooleanSupplier so, Supplier<String> otherwise)
      throws InterruptedException {
    long end = System.nanoTime() + 60_000_000_000L;
    while (!so.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("after a minute " + otherwise.get());
      }
      LockSupport.parkNanos(5_000_000);
    }
  }

  private static long key(int number) {
    return number * 0x9e3779b97f4a7c15L;
  }

  /// A worker that pushes ones until it is told to end, and adds up its pushes.
  private static final class Pusher implements Runnable {
    private final KvTable table;
    private final Random random;
    private final float[] sum = new float[KEYS];
    private final AtomicBoolean end = new AtomicBoolean();
    private final Thread thread;
    private final CountDownLatch answered = new CountDownLatch(200);
    private final AtomicInteger answers = new AtomicInteger();
    private volatile Throwable failure;

    Pusher(KvTable table, int seed) {
      this.table = table;
      this.random = new Random(seed);
      this.thread = Thread.ofPlatform().start(this);
    }

    @Override
    public void run() {
      var open = new ArrayDeque<Handle<Void>>();
      try {
        while (!end.get()) {
          int many = 1 + random.nextInt(60);
          long[] keys = new long[many];
          float[] ones = new float[2 * many];
          Arrays.fill(ones, 1);
          for (int k = 0; k < many; k++) {
            int number = random.nextInt(KEYS);
            keys[k] = key(number);
            sum[number]++;
          }
          open.add(table.push(keys, ones));
          if (open.size() == 16) {
            open.remove().await();
            answered.countDown();
            answers.incrementAndGet();
          }
        }
        while (!open.isEmpty()) {
          open.remove().await();
        }
      } catch (Throwable failed) {
        failure = failed;
      }
    }

    /// Waits until many pushes are answered.
    void awaitMany() throws InterruptedException {
      assertThat(answered.await(60, TimeUnit.SECONDS)).isTrue();
    }

    /// Waits until `more` further pushes are answered.
    void awaitAnswers(int more) throws InterruptedException {
      int enough = answers.get() + more;
      until(
          () -> answers.get() >= enough || failure != null,
          () -> answers + " answers, expected " + enough);
    }

    float[] end() throws Exception {
      end.set(true);
      thread.join(60_000);
      assertThat(failure).isNull();
      assertThat(thread.isAlive()).isFalse();
      return sum;
    }
  }

  private static void compare(KvTable table, List<float[]> sums) throws Exception {
    float[] rows = new float[2 * KEYS];
    long[] keys = new long[KEYS];
    Arrays.setAll(keys, ReturnTest::key);
    table.pull(keys, rows).await();
    for (int number = 0; number < KEYS; number++) {
      float expected = 0;
      for (float[] each : sums) {
        expected += each[number];
      }
      assertThat(rows[2 * number]).as("key %d", number).isEqualTo(expected);
      assertThat(rows[2 * number + 1]).as("key %d", number).isEqualTo(expected);
    }
  }

  /// Returns one transport by default, all in the long tier.
  private static Stream<String> transports() {
    return Boolean.getBoolean("weft.test.long")
        ? Stream.of("inproc", "tcp", "shm")
        : Stream.of("tcp");
  }

  @ParameterizedTest
  @MethodSource("transports")
  void noPushIsLostOrDoubledWhenServersAreReplacedInTurn(String transport) throws Exception {
    try (var job = new Job(transport, KvOptions.servers(SERVERS).withMirrors(), "7")) {
      List<KvTable> tables =
          List.of(job.store(0).register(COUNTERS), job.store(1).register(COUNTERS));
      List<float[]> sums = new ArrayList<>();
      List<Pusher> pushers = List.of(new Pusher(tables.get(0), 1), new Pusher(tables.get(1), 2));
      for (Pusher each : pushers) {
        each.awaitMany();
      }
      job.loses(1);
      await(job.server(2), Set.of(1, 2, 4, 5));
      KvServer joined = job.joins(5);
      await(joined, Set.of(1, 4));
      await(job.server(2), Set.of(2, 5));
      for (Pusher each : pushers) {
        sums.add(each.end());
      }
      compare(tables.get(1), sums);
      pushers = List.of(new Pusher(tables.get(0), 3), new Pusher(tables.get(1), 4));
      awaitMirrors(job, 7, List.of(0, 2, 5));
      job.loses(2);
      await(joined, Set.of(1, 4));
      await(job.server(0), Set.of(0, 2, 3, 5, 6));
      KvServer second = job.joins(6);
      await(second, Set.of(2, 5));
      awaitMirrors(job, 7, List.of(0, 5, 6));
      job.loses(0);
      await(joined, Set.of(0, 1, 3, 4, 6));
      awaitMirrors(job, 7, List.of(5, 6));
      job.loses(6);
      await(joined, Set.of(0, 1, 2, 3, 4, 5, 6));
      for (Pusher each : pushers) {
        sums.add(each.end());
      }
      compare(tables.get(0), sums);
    }
  }

  /// One of the servers, possibly the returning one, is lost at a random moment of the return.
  @Tag("long")
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aServerLostDuringAReturnLosesNoPush(int seed) throws Exception {
    var random = new Random(seed);
    try (var job = new Job("tcp", KvOptions.servers(SERVERS).withMirrors(), "7")) {
      KvTable table = job.store(0).register(COUNTERS);
      table.push(wide(), new float[2 * WIDE]).await();
      List<float[]> sums = new ArrayList<>();
      List<Pusher> pushers =
          List.of(
              new Pusher(table, 10 * seed), new Pusher(job.store(1).register(COUNTERS), 20 * seed));
      List<Integer> servers = new ArrayList<>(List.of(0, 1, 2));
      for (int spare = 5; spare < 9; spare++) {
        job.loses(servers.removeFirst());
        awaitMirrors(job, 7, servers);
        job.joins(spare);
        servers.add(spare);
        if (spare == 8) {
          pushers.getFirst().awaitAnswers(random.nextInt(100));
          job.loses(servers.remove(random.nextInt(servers.size())));
        }
        awaitMirrors(job, 7, servers);
      }
      for (Pusher each : pushers) {
        sums.add(each.end());
      }
      compare(table, sums);
      job.loses(servers.removeFirst());
      compare(table, sums);
    }
  }

  private static final int WIDE = 50_000;

  /// Returns the keys of many rows of zeros, which prolong the copies.
  private static long[] wide() {
    long[] keys = new long[WIDE];
    Arrays.setAll(keys, i -> -1L - i);
    return keys;
  }

  /// Waits until every shard has its primary and its mirror among these servers.
  private static void awaitMirrors(Job job, int shards, List<Integer> servers) throws Exception {
    until(
        () -> servers.stream().mapToInt(it -> job.server(it).mirrored().size()).sum() == shards,
        () ->
            servers.stream()
                .map(it -> "rank " + it + ": " + describe(job.server(it)))
                .collect(Collectors.joining("; ")));
  }

  @Tag("long")
  @Test
  void replacementsOfBothServersServeTheWholeTable() throws Exception {
    try (var job = new Job("tcp", KvOptions.servers(2).withMirrors(), "4")) {
      KvTable table = job.store(0).register(COUNTERS);
      List<float[]> sums = new ArrayList<>();
      var pusher = new Pusher(table, 1);
      pusher.awaitMany();
      job.loses(0);
      await(job.server(1), Set.of(0, 1, 2, 3));
      await(job.joins(5), Set.of(0, 2));
      awaitMirrors(job, 4, List.of(1, 5));
      job.loses(1);
      KvServer left = job.members.lastEntry().getValue().server().orElseThrow();
      await(left, Set.of(0, 1, 2, 3));
      await(job.joins(6), Set.of(1, 3));
      awaitMirrors(job, 4, List.of(5, 6));
      job.loses(5);
      await(job.members.lastEntry().getValue().server().orElseThrow(), Set.of(0, 1, 2, 3));
      sums.add(pusher.end());
      compare(table, sums);
    }
  }

  @Test
  void processesThatReturnAtTheSameTimeKnowEachOther() throws Exception {
    try (var job = new Job("tcp", KvOptions.servers(4).withMirrors(), "8")) {
      KvTable table = job.store(0).register(COUNTERS);
      var pusher = new Pusher(table, 1);
      pusher.awaitMany();
      job.loses(0);
      job.loses(2);
      awaitMirrors(job, 8, List.of(1, 3));
      List<Thread> joining = new ArrayList<>();
      KvServer[] joined = new KvServer[2];
      for (int i = 0; i < 2; i++) {
        int number = i;
        joining.add(Thread.ofPlatform().start(() -> joined[number] = job.joins(6 + number)));
      }
      for (Thread each : joining) {
        each.join();
      }
      assertThat(joined).doesNotContainNull();
      // Each place has two shards, and each shard has a mirror on the next place.
      for (KvServer each : List.of(joined[0], joined[1], job.server(1), job.server(3))) {
        awaitMirrored(each, 2);
      }
      job.loses(1);
      job.loses(3);
      for (KvServer each : joined) {
        awaitMirrored(each, 4);
      }
      List<float[]> sums = List.of(pusher.end());
      compare(table, sums);
    }
  }

  private static void awaitMirrored(KvServer server, int shards) throws Exception {
    until(
        () -> server.mirrored().size() == shards && server.served().size() == shards,
        () -> describe(server) + ", expected " + shards + " with mirrors");
  }

  @Test
  void aSynchronousTensorKeepsTheSameBitsAfterAReturn() throws Exception {
    var spec = TableSpec.tensor("w", 20_000).withRule("momentum:lr=0.1,momentum=0.9");
    float[][] results = new float[2][];
    for (int run = 0; run < 2; run++) {
      try (var job = new Job("tcp", KvOptions.servers(SERVERS).withMirrors(), "3")) {
        List<KvTensor> tensors =
            List.of(job.store(0).registerTensor(spec), job.store(1).registerTensor(spec));
        float[] first = new float[20_000];
        Arrays.fill(first, 0.5f);
        Handle<Void> unused = tensors.get(0).init(MemorySegment.ofArray(first));
        tensors.get(1).init(MemorySegment.ofArray(first)).await();
        float[][] values = new float[2][20_000];
        for (int round = 0; round < 80; round++) {
          if (run == 1 && round == 10) {
            job.loses(1);
          } else if (run == 1 && round == 20) {
            Thread.ofPlatform().start(() -> job.joins(5));
          }
          List<Handle<Void>> open = new ArrayList<>();
          for (int worker = 0; worker < 2; worker++) {
            var random = new Random(round * 7L + worker);
            for (int i = 0; i < values[worker].length; i++) {
              values[worker][i] = random.nextFloat() - 0.5f;
            }
            open.add(tensors.get(worker).push(MemorySegment.ofArray(values[worker])));
          }
          for (Handle<Void> each : open) {
            each.await();
          }
          tensors.get(0).pull(MemorySegment.ofArray(values[0])).await();
          tensors.get(1).pull(MemorySegment.ofArray(values[1])).await();
        }
        if (run == 1) {
          await(job.members.lastEntry().getValue().server().orElseThrow(), Set.of(1));
        }
        results[run] = values[0];
      }
    }
    assertThat(results[1]).isEqualTo(results[0]);
  }

  @Test
  void checkpointsAreMadeWhileAServerIsReplaced(@TempDir Path directory) throws Exception {
    List<float[]> sums = new ArrayList<>();
    int last = 0;
    try (var job = new Job("tcp", KvOptions.servers(SERVERS).withMirrors(), "5")) {
      KvTable table = job.store(0).register(COUNTERS);
      var pusher = new Pusher(table, 1);
      pusher.awaitMany();
      last = job.store(0).checkpoint(directory).number();
      job.loses(2);
      Thread joining = Thread.ofPlatform().start(() -> job.joins(6));
      for (int i = 0; i < 5; i++) {
        last = job.store(0).checkpoint(directory).number();
      }
      joining.join();
      await(job.members.lastEntry().getValue().server().orElseThrow(), Set.of(2));
      sums.add(pusher.end());
      last = job.store(0).checkpoint(directory).number();
    }
    try (KvJob job = new KvJob("inproc", 3, KvOptions.servers(2))) {
      int expected = last;
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            assertThat(store.restore(directory).orElseThrow().number()).isEqualTo(expected);
            compare(table, sums);
          });
    }
  }

  @Test
  void aReturnIsRefusedWhenNoServerIsLost() throws Exception {
    try (var job = new Job("tcp", KvOptions.servers(SERVERS).withMirrors(), "3")) {
      assertThatThrownBy(() -> job.joins(5))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("none of its 3 servers, ranks [0, 1, 2], is lost");
    }
  }

  @Test
  void aReturnIsRefusedWithoutMirrors() throws Exception {
    try (var job = new Job("tcp", KvOptions.servers(SERVERS), "3")) {
      job.loses(1);
      assertThatThrownBy(() -> job.joins(5))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("withMirrors");
    }
  }
}
