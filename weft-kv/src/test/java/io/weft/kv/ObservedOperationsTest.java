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
import io.weft.observer.OperationStage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that observers are notified of a parameter server's operations, on workers and servers.
@Timeout(120)
class ObservedOperationsTest {

  private static final TableSpec COUNTERS =
      TableSpec.rows("counters", 2).with(Consistency.bounded(1));

  private record End(
      Service side,
      String name,
      String table,
      long rows,
      long bytes,
      int peer,
      @Nullable CommException failure) {}

  /// Keeps the ends of this side's operations; each must have been submitted and begun before.
  private static final class Recorder implements OperationObserver {
    private final Service side;
    private final LinkedBlockingQueue<End> ends = new LinkedBlockingQueue<>();
    private final Set<Long> submitted = ConcurrentHashMap.newKeySet();
    private final Set<Long> begun = ConcurrentHashMap.newKeySet();
    private final List<String> faults = new ArrayList<>();

    Recorder(Service side) {
      this.side = side;
    }

    @Override
    public void submitted(ObservedOperation it) {
      if (it.service() == side) {
        submitted.add(it.id());
      }
    }

    @Override
    public void reached(ObservedOperation it, OperationStage stage, int exchange, long nanos) {
      if (it.service() == side && stage == OperationStage.STARTED && submitted.contains(it.id())) {
        begun.add(it.id());
      }
    }

    @Override
    public void ended(ObservedOperation it, @Nullable CommException failure, long nanos) {
      if (it.service() != side) {
        return;
      }
      if (!begun.remove(it.id()) || it.submittedNanos() > nanos) {
        synchronized (faults) {
          faults.add(it.name());
        }
      }
      ends.add(
          new End(side, it.name(), it.table(), it.rows(), it.bytes(), it.lastHeard(), failure));
    }

    /// Removes ends until one is as expected, and returns that.
    End next(Predicate<End> expected) throws InterruptedException {
      List<End> others = new ArrayList<>();
      for (End end = ends.poll(60, TimeUnit.SECONDS);
          end != null;
          end = ends.poll(60, TimeUnit.SECONDS)) {
        if (expected.test(end)) {
          synchronized (faults) {
            assertThat(faults).as("ended without a beginning").isEmpty();
          }
          return end;
        }
        others.add(end);
      }
      throw new AssertionError("no such operation; ended are " + others);
    }

    End next(String name) throws InterruptedException {
      return next(end -> end.name().equals(name));
    }
  }

  private static Recorder observe(KvJob job, int rank, Service side) {
    var recorder = new Recorder(side);
    job.job().ranks().get(rank).observe(recorder);
    return recorder;
  }

  @Test
  void workerAndServerReportPushPullAndClock() throws InterruptedException {
    try (KvJob job =
        new KvJob("inproc", 2, KvOptions.servers(1), it -> it.set(KvConfig.SHARDS, "1"))) {
      Recorder worker = observe(job, 1, Service.KV_WORKER);
      Recorder server = observe(job, 0, Service.KV_SERVER);
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            table.push(new long[] {7, 8, 9}, new float[] {1, 2, 3, 4, 5, 6}).await();
            table.pull(new long[] {7, 9}, new float[4]).await();
            table.clock().await();
          });
      assertThat(worker.next("register counters").peer()).isEqualTo(0);
      assertThat(worker.next("push counters"))
          .isEqualTo(new End(Service.KV_WORKER, "push counters", "counters", 3, 24, 0, null));
      assertThat(worker.next("pull counters"))
          .isEqualTo(new End(Service.KV_WORKER, "pull counters", "counters", 2, 16, 0, null));
      assertThat(worker.next("clock counters").failure()).isNull();
      End push = server.next("push counters");
      assertThat(push)
          .isEqualTo(
              new End(Service.KV_SERVER, "push counters", "counters", 3, push.bytes(), 1, null));
      assertThat(push.bytes()).isBetween(24L, 24L + 3 * 8);
      End pull = server.next("pull counters");
      assertThat(pull)
          .isEqualTo(
              new End(Service.KV_SERVER, "pull counters", "counters", 2, pull.bytes(), 1, null));
      assertThat(pull.bytes()).isBetween(16L, 16L + 2 * 8);
      assertThat(server.next("clock counters").failure()).isNull();
    }
  }

  @Test
  void insertionRemovalAndExportAreReported(@TempDir Path directory) throws InterruptedException {
    try (KvJob job =
        new KvJob("inproc", 2, KvOptions.servers(1), it -> it.set(KvConfig.SHARDS, "1"))) {
      Recorder worker = observe(job, 1, Service.KV_WORKER);
      Recorder server = observe(job, 0, Service.KV_SERVER);
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            table.insert(new long[] {7, 8, 9}, new float[] {1, 2, 3, 4, 5, 6}).await();
            table.remove(8).await();
            table.exportRows(directory, Duration.ofMinutes(1));
          });
      assertThat(worker.next("insert counters"))
          .isEqualTo(new End(Service.KV_WORKER, "insert counters", "counters", 3, 24, 0, null));
      assertThat(worker.next("remove counters"))
          .isEqualTo(new End(Service.KV_WORKER, "remove counters", "counters", 1, 0, 0, null));
      assertThat(worker.next("export counters").failure()).isNull();
      assertThat(server.next("insert counters").rows()).isEqualTo(3);
      assertThat(server.next("remove counters").rows()).isEqualTo(1);
      assertThat(server.next("export counters").failure()).isNull();
    }
  }

  @Test
  void aRefusedRequestHasFailedOnBothSides() throws InterruptedException {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      Recorder worker = observe(job, 1, Service.KV_WORKER);
      Recorder server = observe(job, 0, Service.KV_SERVER);
      job.onWorkers(
          (store, weft) -> {
            store.register(COUNTERS);
            assertThatThrownBy(() -> store.register(COUNTERS.withRule("adagrad")))
                .hasMessageContaining("another specification");
          });
      for (Recorder each : List.of(worker, server)) {
        assertThat(each.next(end -> end.failure() != null))
            .satisfies(end -> assertThat(end.name()).startsWith("register"))
            .satisfies(
                end -> assertThat(end.failure()).hasMessageContaining("another specification"));
      }
    }
  }

  @Test
  void aTakeoverAndTheCopyToTheNextMirrorAreReported() throws InterruptedException {
    try (KvJob job =
        new KvJob(
            "inproc", 4, KvOptions.servers(3).withMirrors(), it -> it.set(KvConfig.SHARDS, "3"))) {
      List<Recorder> servers =
          List.of(observe(job, 1, Service.KV_SERVER), observe(job, 2, Service.KV_SERVER));
      Recorder worker = observe(job, 3, Service.KV_WORKER);
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            table.push(new long[] {1, 2, 3}, new float[6]).await();
            job.job().ranks().getFirst().close();
            table.push(new long[] {1, 2, 3}, new float[6]).await();
          });
      assertThat(worker.next("push counters").failure()).isNull();
      assertThat(worker.next("push counters").failure()).isNull();
      End takeover = servers.getFirst().next(end -> end.name().startsWith("takeover of shard "));
      assertThat(takeover.peer()).as("the lost server").isEqualTo(0);
      assertThat(takeover.failure()).isNull();
      End copy = servers.getFirst().next(end -> end.name().startsWith("copy of shard "));
      assertThat(copy.peer()).as("the next mirror").isEqualTo(2);
      assertThat(copy.failure()).isNull();
      assertThat(copy.bytes()).isPositive();
    }
  }

  @Test
  void aCheckpointAndItsRestorationAreReported(@TempDir Path directory)
      throws InterruptedException {
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      Recorder worker = observe(job, 1, Service.KV_WORKER);
      Recorder server = observe(job, 0, Service.KV_SERVER);
      job.onWorkers(
          (store, weft) -> {
            KvTable table = store.register(COUNTERS);
            table.push(new long[] {1}, new float[] {1, 1}).await();
            store.checkpoint(directory);
          });
      assertThat(worker.next("checkpoint counters").failure()).isNull();
      assertThat(server.next("checkpoint counters").failure()).isNull();
    }
    try (KvJob job = new KvJob("inproc", 2, KvOptions.servers(1))) {
      Recorder worker = observe(job, 1, Service.KV_WORKER);
      Recorder server = observe(job, 0, Service.KV_SERVER);
      job.onWorkers(
          (store, weft) -> {
            store.register(COUNTERS);
            assertThat(store.restore(directory)).isPresent();
          });
      assertThat(worker.next("restore counters").failure()).isNull();
      assertThat(server.next("restore counters").bytes()).isPositive();
    }
  }
}
