// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.testkit.job.LocalJob;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks what ps-lite's tests check beyond pushes and pulls of one worker.
@Timeout(120)
class PsLiteBehavioursTest {

  private static final TableSpec COUNTERS =
      TableSpec.rows("counters", 1).with(Consistency.asynchronous());

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void everyServerAnswersACommand(String transport) {
    List<String> heard = new CopyOnWriteArrayList<>();
    KvCommands commands =
        (worker, command) -> {
          heard.add(worker + " " + command);
          return switch (command) {
            case "status \u2603" -> Optional.of("fine \u2603");
            case "nothing" -> Optional.of("");
            case "long" -> Optional.of("x".repeat(KvCommands.MOST_BYTES + 1));
            case "fail" -> throw new IllegalStateException("it is broken");
            default -> Optional.empty();
          };
        };
    // There is one shard, so one of the servers has none.
    try (KvJob job =
        new KvJob(
            transport,
            4,
            KvOptions.servers(2).withCommands(commands),
            it -> it.set(KvConfig.SHARDS, "1"))) {
      job.onWorkers(
          (store, weft) -> {
            assertThat(store.command("status \u2603"))
                .isEqualTo(Map.of(0, "fine \u2603", 1, "fine \u2603"));
            assertThat(store.command("nothing")).isEqualTo(Map.of(0, "", 1, ""));
            store.barrier();
            if (weft.rank() == 2) {
              assertThat(heard)
                  .containsExactlyInAnyOrder(
                      "2 status \u2603",
                      "2 status \u2603",
                      "3 status \u2603",
                      "3 status \u2603",
                      "2 nothing",
                      "2 nothing",
                      "3 nothing",
                      "3 nothing");
            }
            store.barrier();
            assertThatThrownBy(() -> store.command("what"))
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("knows no command 'what'")
                .hasMessageContaining("withCommands");
            assertThatThrownBy(() -> store.command("fail"))
                .hasMessageContaining("command 'fail' failed: it is broken");
            assertThatThrownBy(() -> store.command("long"))
                .hasMessageContaining("an answer of 513 bytes");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> store.command("x".repeat(513)))
                .withMessageContaining("513 bytes; at most 512");
            store.barrier();
          });
    }
  }

  @Test
  void aLostServerAnswersNoCommandAndNoOtherServerAnswersForIt() {
    KvCommands commands = (worker, command) -> Optional.of(command);
    try (KvJob job =
        new KvJob("tcp", 3, KvOptions.servers(2).withMirrors().withCommands(commands))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            assertThat(store.command("a")).isEqualTo(Map.of(0, "a", 1, "a"));
            job.job().ranks().get(0).close();
            long[] onBoth = LongStream.range(0, 100).toArray();
            table.push(onBoth, new float[100]).await(); // this push detects the loss
            assertThat(store.command("b")).isEqualTo(Map.of(1, "b"));
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void pushesOfManyWorkersToManyKeysAddUp(String transport) {
    int keys = 20_000;
    int workers = 6;
    var sums = new AtomicLongArray(keys);
    try (KvJob job =
        new KvJob(
            transport,
            workers + 2,
            KvOptions.servers(2),
            it -> it.set(KvConfig.SHARDS, "6").set(KvConfig.THREADS, "2"))) {
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            var random = new Random(weft.rank());
            var open = new ArrayDeque<Handle<Void>>();
            for (int i = 0; i < 80; i++) {
              long[] some = random.longs(random.nextInt(2000), 0, keys).toArray();
              float[] ones = new float[some.length];
              Arrays.fill(ones, 1);
              open.add(table.push(some, ones));
              Arrays.stream(some).forEach(key -> sums.incrementAndGet((int) key));
              if (open.size() == 16) {
                open.remove().await();
              }
            }
            for (Handle<Void> each : open) {
              each.await();
            }
            store.barrier();
            long[] all = new long[keys];
            Arrays.setAll(all, i -> i);
            float[] found = new float[keys];
            table.pull(all, found).await();
            for (int key = 0; key < keys; key++) {
              assertThat(found[key]).as("key %d", key).isEqualTo(sums.get(key));
            }
            store.barrier();
          });
    }
  }

  @Test
  void threadsOfOneWorkerPushAndPullAtOnce() {
    int threads = 4;
    try (KvJob job = new KvJob("tcp", 3, KvOptions.servers(2))) {
      job.onWorkers(
          (store, weft) -> {
            if (weft.rank() != 2) {
              return;
            }
            KvTable table = store.register(COUNTERS);
            try (var pool = Executors.newFixedThreadPool(threads)) {
              List<Callable<Boolean>> tasks = new ArrayList<>();
              for (int t = 0; t < threads; t++) {
                long own = 1000 + t;
                tasks.add(
                    () -> {
                      for (int i = 1; i <= 100; i++) {
                        table.push(new long[] {own, 7}, new float[] {1, 1}).await();
                        float[] mine = new float[1];
                        table.pull(new long[] {own}, mine).await();
                        assertThat(mine[0]).isEqualTo(i);
                      }
                      return true;
                    });
              }
              for (Future<Boolean> each : pool.invokeAll(tasks)) {
                assertThat(each.get(60, TimeUnit.SECONDS)).isTrue();
              }
            }
            float[] all = new float[1];
            table.pull(new long[] {7}, all).await();
            assertThat(all[0]).isEqualTo(100 * threads);
          });
    }
  }

  /// An early worker waits for the servers, so servers and workers may start in any order.
  @ParameterizedTest
  @ValueSource(ints = {0, 2})
  void theLastRankToStartIsAwaited(int last) {
    var others = new CountDownLatch(2);
    List<KvNode> members = new CopyOnWriteArrayList<>();
    KvOptions options = KvOptions.servers(1);
    try (LocalJob job = LocalJob.start(3, WeftConfig.builder().transport("tcp").build())) {
      job.run(
          weft -> {
            if (weft.rank() == last) {
              assertThat(others.await(30, TimeUnit.SECONDS)).isTrue();
            } else {
              others.countDown();
            }
            KvNode member = KvNode.open(weft, options);
            members.add(member);
            if (weft.rank() > 0) {
              KvTable table = member.worker().register(COUNTERS);
              table.push(new long[] {1}, new float[] {1}).await();
              member.worker().barrier();
              float[] found = new float[1];
              table.pull(new long[] {1}, found).await();
              assertThat(found[0]).isEqualTo(2);
              member.worker().barrier();
            }
            return true;
          });
      members.forEach(KvNode::close);
    }
  }
}
