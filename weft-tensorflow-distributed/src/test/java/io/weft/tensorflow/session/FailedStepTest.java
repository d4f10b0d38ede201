// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.ffm.BorrowedTensors;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.StepException.Reason;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.DeviceSpec;
import org.tensorflow.Graph;
import org.tensorflow.Tensor;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.io.FifoQueue;
import org.tensorflow.op.io.QueueDequeue;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// Checks that a step that fails on one task fails on all, naming the task, and that the next step
/// runs.
class FailedStepTest {

  private static final Task SERVER = new Task("ps", 0);

  /// The limit of a step that has one second.
  private static final Duration SOON = Duration.ofMillis(1500);

  private static final GraphCall SUM = new GraphCall(List.of("x"), List.of("sum:0"), List.of());
  private static final GraphCall TAKE = new GraphCall(List.of(), List.of("taken:0"), List.of());

  /// Returns a graph. The server has `checked`, which is x if x is finite, and `late` from a queue
  /// that stays empty. The worker has `sum` of a long tensor made of `checked`, and `taken`, which
  /// is `late`.
  private static GraphDef graph() {
    try (Graph graph = new Graph()) {
      Ops worker = Ops.create(graph).withDevice(device("worker"));
      Ops server = Ops.create(graph).withDevice(device("ps"));
      var x = worker.withName("x").placeholder(TFloat32.class, Placeholder.shape(Shape.of()));
      var checked = server.withName("checked").debugging.checkNumerics(x, "no number came");
      var many = server.withName("many").fill(server.constant(new int[] {20_000}), checked);
      worker.withName("sum").sum(many, worker.constant(0));
      FifoQueue queue = server.io.fifoQueue(List.of(TFloat32.class));
      QueueDequeue late = server.withName("late").io.queueDequeue(queue, List.of(TFloat32.class));
      worker.withName("taken").identity(late.iterator().next());
      return graph.toGraphDef();
    }
  }

  private static DeviceSpec device(String job) {
    return DeviceSpec.newBuilder().job(job).task(0).build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void failedNodeFailsTheStepByTaskAndNameAndTheNextStepRuns(String transport) {
    var unused =
        Clusters.on(
            transport,
            1,
            1,
            server -> {
              try (WeftSession session = open(server)) {
                StepException failure =
                    catchThrowableOfType(
                        StepException.class, () -> sum(session, Float.NaN, Clusters.LONG));
                assertThat(failure.reason()).isEqualTo(Reason.FAILED);
                assertThat(failure.task()).isEqualTo(SERVER);
                assertThat(failure)
                    .hasMessageContaining("/job:ps/task:0")
                    .hasMessageContaining("checked")
                    .hasMessageContaining("no number came");
                assertThat(sum(session, 2, Clusters.LONG)).isEqualTo(40_000);
              }
              return true;
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void stepWithoutItsTensorEndsAtItsTimeLimit(String transport) {
    var unused =
        Clusters.on(
            transport,
            1,
            1,
            server -> {
              try (WeftSession session = open(server)) {
                Duration fastest = takeInVain(session);
                for (int i = 1; i < 5 && fastest.compareTo(SOON) > 0; i++) {
                  Duration again = takeInVain(session); // the machine may have been busy
                  fastest = fastest.compareTo(again) < 0 ? fastest : again;
                }
                assertThat(fastest).isBetween(Duration.ofSeconds(1), SOON);
                assertThat(sum(session, 1, Clusters.LONG)).isEqualTo(20_000);
              }
              return true;
            });
  }

  /// Returns the duration of a step that has one second and whose tensor is never produced.
  private static Duration takeInVain(WeftSession session) {
    long start = System.nanoTime();
    StepException failure =
        catchThrowableOfType(
            StepException.class, () -> session.run(TAKE, Map.of(), Duration.ofSeconds(1)).close());
    Duration taken = Duration.ofNanos(System.nanoTime() - start);
    assertThat(failure.reason()).isEqualTo(Reason.TIMED_OUT);
    assertThat(failure.task()).isEqualTo(SERVER);
    return taken;
  }

  @Test
  void randomCancellationsLeaveNothing() {
    long seed = Long.getLong("weft.test.seed", 20261122);
    Random random = new Random(seed);
    int[] outcomes = new int[2];
    var unused =
        Clusters.on(
            "inproc",
            1,
            1,
            server -> {
              try (WeftSession session = open(server)) {
                for (int step = 0; step < 1000; step++) {
                  outcomes[cancelled(session, random) ? 1 : 0]++;
                }
                assertThat(sum(session, 3, Clusters.LONG)).isEqualTo(60_000);
              }
              return true;
            });
    assertThat(outcomes).as("done, cancelled, with seed " + seed).doesNotContain(0);
    assertThat(BorrowedTensors.live()).isZero();
  }

  /// Runs a step that is cancelled after a random time, perhaps too late. Returns true if it was
  /// cancelled.
  private static boolean cancelled(WeftSession session, Random random) throws Exception {
    long nanos = random.nextInt(3) == 0 ? -1 : random.nextInt(800_000);
    CompletableFuture<Void> canceller =
        CompletableFuture.runAsync(
            () -> {
              if (nanos >= 0) {
                LockSupport.parkNanos(nanos);
                session.cancel("not wanted any more");
              }
            });
    try {
      assertThat(sum(session, 1, Clusters.LONG)).isEqualTo(20_000);
      return false;
    } catch (StepException e) {
      assertThat(e.reason()).isEqualTo(Reason.CANCELLED);
      assertThat(e).hasMessageContaining("not wanted any more");
      return true;
    } finally {
      canceller.get();
    }
  }

  @Test
  void aSessionAbandonedBetweenStepsRunsNoFurtherStep() {
    var unused =
        Clusters.on(
            "inproc",
            1,
            1,
            server -> {
              try (WeftSession session = open(server)) {
                assertThat(sum(session, 1, Clusters.LONG)).isEqualTo(20_000);
                session.abandon("nobody is left to wait for");
                for (int step = 0; step < 2; step++) {
                  StepException failure =
                      catchThrowableOfType(
                          StepException.class,
                          () -> session.run(TAKE, Map.of(), Duration.ofMinutes(1)).close());
                  assertThat(failure.reason()).isEqualTo(Reason.CANCELLED);
                  assertThat(failure).hasMessageContaining("nobody is left to wait for");
                }
              }
              return true;
            });
    assertThat(BorrowedTensors.live()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void departedTaskIsNamedByTheFailedStep(String transport) {
    CountDownLatch waits = new CountDownLatch(1);
    WeftConfig config =
        WeftConfig.load(Map.of("WEFT_TRANSPORT", transport), new java.util.Properties());
    try (LocalJob job = LocalJob.start(2, config)) {
      var unused =
          job.run(
              weft -> {
                WeftServer server = WeftServer.start(weft, Clusters.spec(1, 1));
                if (server.task().equals(SERVER)) {
                  assertThat(waits.await(1, TimeUnit.MINUTES)).isTrue();
                  weft.close();
                } else {
                  WeftSession session = open(server);
                  CompletableFuture<Void> watching = whenAStepRuns(weft, waits::countDown);
                  StepException failure =
                      catchThrowableOfType(
                          StepException.class,
                          () -> session.run(TAKE, Map.of(), Duration.ofSeconds(20)).close());
                  assertThat(failure.reason()).isEqualTo(Reason.TASK_LOST);
                  assertThat(failure.task()).isEqualTo(SERVER);
                  assertThat(failure).hasMessageContaining("/job:ps/task:0");
                  watching.get();
                }
                return true;
              });
    }
  }

  @Test
  void concurrentStepIsRefused() {
    var unused =
        Clusters.on(
            "inproc",
            1,
            1,
            server -> {
              try (WeftSession session = open(server)) {
                CompletableFuture<Throwable> second =
                    whenAStepRuns(server.weft(), () -> sum(session, 1, Clusters.LONG))
                        .handle((none, failure) -> failure.getCause());
                StepException first =
                    catchThrowableOfType(
                        StepException.class,
                        () -> session.run(TAKE, Map.of(), Duration.ofSeconds(1)).close());
                assertThat(first.reason()).isEqualTo(Reason.TIMED_OUT);
                assertThat(second.get())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("a step of session_1_0 runs");
              }
              return true;
            });
  }

  private interface Action {
    void run() throws Exception;
  }

  private static CompletableFuture<Void> whenAStepRuns(Weft weft, Action action) {
    return CompletableFuture.runAsync(
        () -> {
          while (weft.rendezvous().counts().steps() < 1) {
            Thread.onSpinWait();
          }
          try {
            action.run();
          } catch (RuntimeException e) {
            throw e;
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private static WeftSession open(WeftServer server) throws InterruptedException {
    return WeftSession.open(server, graph(), Clusters.LONG);
  }

  private static float sum(WeftSession session, float x, Duration limit)
      throws InterruptedException {
    try (TFloat32 fed = TFloat32.scalarOf(x);
        Fetched fetched = session.run(SUM, Map.<String, Tensor>of("x", fed), limit)) {
      return ((TFloat32) fetched.get(0)).getFloat();
    }
  }
}
