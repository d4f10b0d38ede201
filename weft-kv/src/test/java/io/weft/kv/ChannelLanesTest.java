// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.ServiceThreads;
import io.weft.ThreadsConfig;
import io.weft.WeftConfig;
import io.weft.cluster.Connections;
import io.weft.cluster.JobConfig;
import io.weft.cluster.channel.ChannelLane;
import io.weft.comm.Handle;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks a parameter server whose threads have a lane of the request channel each.
@Timeout(120)
class ChannelLanesTest {

  private static final TableSpec COUNTERS =
      TableSpec.rows("counters", 1).with(Consistency.asynchronous());

  private static WeftConfig.Builder lanes(WeftConfig.Builder config, int lanes) {
    return config
        .set(KvConfig.THREADS, "2")
        .set(JobConfig.CONNECTIONS, Connections.USED.toString())
        .set(ThreadsConfig.PROGRESS_THREADS, ServiceThreads.ofLanes(lanes).toString());
  }

  @ParameterizedTest
  @CsvSource({"inproc, 2", "tcp, 2", "shm, 2", "tcp, 3"})
  void pushesOverSeveralLanesAddUp(String transport, int lanes) {
    int keys = 5000;
    long[] all = LongStream.range(0, keys).toArray();
    float[] ones = new float[keys];
    Arrays.fill(ones, 1);
    try (KvJob job = new KvJob(transport, 3, KvOptions.servers(1), it -> lanes(it, lanes))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            KvTensor tensor =
                store.registerTensor(
                    TableSpec.tensor("weights", 100_000).with(Consistency.asynchronous()));
            float[] parts = new float[100_000];
            Arrays.fill(parts, 2);
            var open = new ArrayDeque<Handle<Void>>();
            for (int i = 0; i < 20; i++) {
              open.add(table.push(all, ones));
              open.add(tensor.push(MemorySegment.ofArray(parts)));
            }
            for (Handle<Void> each : open) {
              each.await();
            }
            store.barrier();
            float[] read = new float[keys];
            table.pull(all, read).await();
            assertThat(read).containsOnly(40);
            float[] pulled = new float[100_000];
            tensor.pull(MemorySegment.ofArray(pulled)).await();
            assertThat(pulled).containsOnly(80);
            store.barrier();
          });
      // The server has a connection to each worker on each lane of its two threads.
      assertThat(job.job().ranks().getFirst().lanes()).hasSize(lanes);
      assertThat(job.job().ranks().getFirst().connections()).isEqualTo(2 * 2);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void aServerEndsWhenItsWorkersHaveLeftAllLanes(String transport) throws Exception {
    try (KvJob job = new KvJob(transport, 2, KvOptions.servers(1), it -> lanes(it, 2))) {
      KvServer server = job.member(0).server().orElseThrow();
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            table.push(new long[] {1, 2, 3, 4}, new float[] {1, 1, 1, 1}).await();
          });
      assertThat(server.hasWorkers()).isTrue();
      assertThat(server.join(Duration.ofMillis(20))).isFalse();
      job.job().ranks().get(1).close();
      assertThat(server.join(Duration.ofSeconds(30))).isTrue();
    }
  }

  @Test
  void aCallbackOnAnyLaneIsRefusedToWait() {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1), it -> lanes(it, 2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            for (long key = 0; key < 32; key++) {
              long next = key + 100;
              var refused = new CompletableFuture<Boolean>();
              table
                  .push(new long[] {key}, new float[] {1})
                  .whenDone((_, _) -> refused.complete(isRefused(table, next, weft.lanes())));
              assertThat(refused.get(30, TimeUnit.SECONDS)).isTrue();
            }
          });
    }
  }

  /// Returns whether a wait is refused, or true if this thread is inside no lane, since it then may
  /// wait.
  private static boolean isRefused(KvTable table, long key, List<ChannelLane> lanes) {
    boolean inside = lanes.stream().anyMatch(it -> it.channel().runner().isInside());
    try {
      table.push(new long[] {key}, new float[] {1}).await();
      return !inside;
    } catch (IllegalStateException expected) {
      return inside;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shardsWithMirrorsSurviveTheLossOfAServerWithSeveralLanes() {
    long[] keys = LongStream.range(0, 100).toArray();
    float[] ones = new float[100];
    Arrays.fill(ones, 1);
    try (KvJob job = new KvJob("tcp", 3, KvOptions.servers(2).withMirrors(), it -> lanes(it, 2))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            table.push(keys, ones).await();
            job.job().ranks().getFirst().close();
            table.push(keys, ones).await();
            float[] read = new float[100];
            table.pull(keys, read).await();
            assertThat(read).containsOnly(2);
          });
    }
  }
}
