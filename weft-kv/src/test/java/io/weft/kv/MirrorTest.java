// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.KvReply;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that tables keep every push when servers leave during the pushes.
@Timeout(180)
class MirrorTest {

  private static final int KEYS = 2000;
  private static final TableSpec COUNTERS =
      TableSpec.rows("counters", 2).with(Consistency.asynchronous());

  private static long[] keys() {
    long[] keys = new long[KEYS];
    Arrays.setAll(keys, i -> i * 0x9e3779b97f4a7c15L);
    return keys;
  }

  /// Pushes ones, at most 16 pushes unanswered, and adds up the pushed values.
  private static void push(KvTable table, int pushes, long seed, float[] sum) throws Exception {
    var random = new Random(seed);
    var open = new ArrayDeque<Handle<Void>>();
    for (int i = 0; i < pushes; i++) {
      int many = 1 + random.nextInt(60);
      long[] keys = new long[many];
      float[] ones = new float[2 * many];
      Arrays.fill(ones, 1);
      for (int k = 0; k < many; k++) {
        int key = random.nextInt(KEYS);
        keys[k] = key * 0x9e3779b97f4a7c15L;
        sum[key]++;
      }
      open.add(table.push(keys, ones));
      if (open.size() == 16) {
        open.remove().await();
      }
    }
    while (!open.isEmpty()) {
      open.remove().await();
    }
  }

  private static void compare(KvTable table, float[][] sums) throws Exception {
    float[] rows = new float[2 * KEYS];
    table.pull(keys(), rows).await();
    for (int key = 0; key < KEYS; key++) {
      float expected = 0;
      for (float[] each : sums) {
        expected += each[key];
      }
      assertThat(rows[2 * key]).as("key %d", key).isEqualTo(expected);
      assertThat(rows[2 * key + 1]).as("key %d", key).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void noPushIsLostOrDoubledWhenTwoServersLeaveInTurn(String transport) throws Exception {
    float[][] sums = new float[2][KEYS];
    var first = new CountDownLatch(2);
    var second = new CountDownLatch(2);
    try (KvJob job =
        new KvJob(
            transport,
            5,
            KvOptions.servers(3).withMirrors(),
            it -> it.set(KvConfig.SHARDS, "7").set(KvConfig.THREADS, "2"))) {
      Thread leaving =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      assertThat(first.await(60, TimeUnit.SECONDS)).isTrue();
                      job.job().ranks().get(1).close();
                      assertThat(second.await(60, TimeUnit.SECONDS)).isTrue();
                      job.job().ranks().get(2).close();
                    } catch (InterruptedException unexpected) {
                      Thread.currentThread().interrupt();
                    }
                  });
      job.onWorkers(
          (store, weft) -> {
            int worker = weft.rank() - 3;
            KvTable table = store.register(COUNTERS);
            push(table, 150, worker, sums[worker]);
            first.countDown();
            push(table, 400, 10 + worker, sums[worker]);
            store.barrier();
            compare(table, sums);
            store.barrier();
            second.countDown();
            push(table, 400, 20 + worker, sums[worker]);
            store.barrier();
            compare(table, sums);
          });
      leaving.join();
    }
  }

  @Test
  void aSynchronousTableKeepsTheSameBitsWhenAServerLeaves() throws Exception {
    var spec = TableSpec.rows("sync", 3).withRule("adam:lr=0.1");
    int rounds = 60;
    float[][] results = new float[2][];
    for (int run = 0; run < 2; run++) {
      int loses = run;
      try (KvJob job = new KvJob("tcp", 4, KvOptions.servers(2).withMirrors())) {
        job.onWorkers(
            (store, weft) -> {
              KvTable table = store.register(spec);
              long[] keys = Arrays.copyOf(keys(), 100);
              float[] values = new float[300];
              for (int round = 0; round < rounds; round++) {
                var random = new Random(round * 7L + weft.rank());
                for (int i = 0; i < values.length; i++) {
                  values[i] = random.nextFloat() - 0.5f;
                }
                table.push(keys, values).await();
                if (round == 20 && weft.rank() == 2 && loses == 1) {
                  Thread.ofPlatform().start(() -> job.job().ranks().get(0).close());
                }
                table.pull(keys, values).await();
              }
              results[loses] = values;
              store.barrier();
            });
      }
    }
    assertThat(results[1]).isEqualTo(results[0]);
  }

  @Test
  void aTensorKeepsTheSameBitsWhenServersLeave() throws Exception {
    var spec = TableSpec.tensor("w", 20_000).withRule("momentum:lr=0.1,momentum=0.9");
    float[][] results = new float[2][];
    for (int run = 0; run < 2; run++) {
      int loses = run;
      try (KvJob job =
          new KvJob(
              "tcp",
              5,
              KvOptions.servers(3).withMirrors(),
              it -> it.set(KvConfig.SHARDS, "3").set(KvConfig.PARTITION, "8K"))) {
        job.onWorkers(
            (store, weft) -> {
              KvTensor tensor = store.registerTensor(spec);
              float[] values = new float[20_000];
              Arrays.fill(values, 0.5f);
              tensor.init(MemorySegment.ofArray(values)).await();
              for (int round = 0; round < 60; round++) {
                var random = new Random(round * 7L + weft.rank());
                for (int i = 0; i < values.length; i++) {
                  values[i] = random.nextFloat() - 0.5f;
                }
                tensor.push(MemorySegment.ofArray(values)).await();
                if (loses == 1 && weft.rank() == 3 && (round == 10 || round == 40)) {
                  int server = round == 10 ? 0 : 1;
                  Thread.ofPlatform().start(() -> job.job().ranks().get(server).close());
                }
                tensor.pull(MemorySegment.ofArray(values)).await();
              }
              results[loses] = values;
              store.barrier();
            });
      }
    }
    assertThat(results[1]).isEqualTo(results[0]);
  }

  @Test
  void theMirrorDoesNotAwaitAWorkerThatHasLeft() throws Exception {
    try (KvJob job = new KvJob("tcp", 5, KvOptions.servers(2).withMirrors())) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("t", 1));
            table.push(new long[] {1, 2}, new float[] {1, 1}).await();
            if (weft.rank() == 4) {
              weft.close();
              return;
            }
            float[] pulled = new float[2];
            for (int round = 0; round < 40; round++) {
              table.push(new long[] {1, 2}, new float[] {1, 1}).await();
              if (round == 20 && weft.rank() == 2) {
                job.job().ranks().get(1).close();
              }
              table.pull(new long[] {1, 2}, pulled).await();
            }
            assertThat(pulled).containsOnly(2 * 41 + 1);
          });
    }
  }

  @Test
  void theLossOfBothReplicasFailsThePush() throws Exception {
    try (KvJob job =
        new KvJob(
            "tcp", 3, KvOptions.servers(2).withMirrors().withDeadline(Duration.ofSeconds(20)))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            table.push(new long[] {1}, new float[] {1, 1}).await();
            job.job().ranks().get(0).close();
            table.push(new long[] {1}, new float[] {1, 1}).await();
            job.job().ranks().get(1).close();
            assertThatThrownBy(() -> table.push(new long[] {1}, new float[] {1, 1}).await())
                .isInstanceOf(CommException.PeerLost.class);
          });
    }
  }

  @Test
  void theLossOfBothReplicasNamesTheShardAndTheLastCheckpoint(@TempDir Path directory)
      throws Exception {
    try (KvJob job =
        new KvJob(
            "tcp",
            4,
            KvOptions.servers(3).withMirrors().withDeadline(Duration.ofSeconds(20)),
            it -> it.set(KvConfig.SHARDS, "3"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(TableSpec.rows("wide", 256).withRule("sum"));
            long[] keys = LongStream.range(0, 30_000).toArray();
            table.push(keys, new float[keys.length * 256]).await();
            store.checkpoint(directory);
            List<Weft> gone = job.job().ranks().subList(0, 2);
            gone.parallelStream().forEach(Weft::close);
            assertThatThrownBy(() -> table.push(keys, new float[keys.length * 256]).await())
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("shard 0 is lost: ranks [0, 1]")
                .hasMessageContaining(directory.toString());
          });
    }
  }

  @Test
  void aCheckpointAfterALossIsCompleteAndExtendsTheOneBefore(@TempDir Path directory)
      throws Exception {
    float[][] sums = new float[1][KEYS];
    try (KvJob job =
        new KvJob(
            "tcp", 4, KvOptions.servers(3).withMirrors(), it -> it.set(KvConfig.SHARDS, "5"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            push(table, 60, 1, sums[0]);
            store.checkpoint(directory);
            job.job().ranks().get(1).close();
            push(table, 60, 2, sums[0]);
            store.checkpoint(directory);
            push(table, 60, 3, sums[0]);
            assertThat(store.checkpoint(directory).number()).isEqualTo(3);
          });
    }
    try (KvJob job = new KvJob("inproc", 3, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            assertThat(store.restore(directory).orElseThrow().number()).isEqualTo(3);
            compare(table, sums);
          });
    }
  }

  @Test
  void ranksThatAreServerAndWorkerSurviveTheLossOfOne() throws Exception {
    float[][] sums = new float[4][KEYS];
    try (KvJob job = new KvJob("tcp", 4, KvOptions.everyRank().withMirrors())) {
      var compared = new CountDownLatch(3);
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            push(table, 60, weft.rank(), sums[weft.rank()]);
            store.barrier();
            if (weft.rank() == 2) {
              weft.close();
              return;
            }
            push(table, 120, 10 + weft.rank(), sums[weft.rank()]);
            compared.countDown();
            assertThat(compared.await(60, TimeUnit.SECONDS)).isTrue();
            compare(table, sums);
          });
    }
  }

  @Test
  void aWorkerThatForwardsLikeAServerIsRefused() throws Exception {
    try (KvJob job = new KvJob("tcp", 3, KvOptions.servers(2).withMirrors())) {
      MemorySegment head = MemorySegment.ofArray(new byte[80]);
      new KvHead(
              KvOp.PUSH,
              new KvHead.Target(0, COUNTERS.id()),
              new KvHead.Progress(1, 1, 0),
              KvHead.Listed.NONE)
          .write(head.asSlice(0, KvHead.BYTES));
      var reply = new CompletableFuture<KvReply>();
      assertThat(
              job.job()
                  .ranks()
                  .get(2)
                  .channel()
                  .tryRequest(
                      1,
                      Request.of(
                          KvOptions.servers(2).kind(),
                          head,
                          MemorySegment.NULL,
                          Duration.ofSeconds(20)),
                      outcome -> {
                        if (outcome instanceof RequestOutcome.Replied(var body, long written)) {
                          reply.complete(KvReply.read(body));
                        }
                      }))
          .isTrue();
      assertThat(reply.get(30, TimeUnit.SECONDS).text())
          .contains("rank 2 forwards", "only servers do");
    }
  }
}
