// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks callbacks that throw or that wait, which they must not do, on the progress thread and on
/// threads that run its duty cycle.
@Timeout(120)
class CallbackTest {

  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static final int ROUNDS = 20;

  /// A call that waits.
  private interface Wait {
    void run() throws InterruptedException;
  }

  private static void refused(Wait wait, Queue<String> refusals) {
    try {
      wait.run();
      refusals.add("not refused");
    } catch (IllegalStateException refused) {
      refusals.add(String.valueOf(refused.getMessage()));
    } catch (InterruptedException | RuntimeException other) {
      refusals.add(other.toString());
    }
  }

  private static Handle<TensorView> allreduce(Weft weft, OwnedTensor tensor, String name) {
    return weft.communicator()
        .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named(name).within(LIMIT));
  }

  /// Rank 1 submits after rank 0 has registered its callback. The callback then runs on a waiting
  /// caller or on the progress thread, depending on which one runs the duty cycle.
  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm", "tcp"})
  void waitingInACallbackIsRefusedOnEveryThread(String transport) {
    Queue<String> refusals = new ConcurrentLinkedQueue<>();
    try (LocalJob job = LocalJob.over(transport, 2);
        OwnedTensor never = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4))) {
      Handle<TensorView> pending = allreduce(job.ranks().get(0), never, "never");
      for (int round = 0; round < ROUNDS; round++) {
        CountDownLatch asked = new CountDownLatch(1);
        int elements = round % 2 == 0 ? 4 : 5_000;
        boolean driven = round % 4 < 2;
        var unused =
            job.run(
                weft -> {
                  try (OwnedTensor tensor =
                      OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
                    if (weft.rank() == 1) {
                      asked.await();
                      return allreduce(weft, tensor, "met").await(LIMIT);
                    }
                    Handle<TensorView> handle = allreduce(weft, tensor, "met");
                    CountDownLatch called = new CountDownLatch(1);
                    handle.whenDone(
                        (_, _) -> {
                          refused(() -> pending.await(LIMIT), refusals);
                          refused(
                              () ->
                                  weft.communicator()
                                      .barrier(named("barrier" + System.nanoTime()))
                                      .await(LIMIT),
                              refusals);
                          refused(() -> weft.shrink(LIMIT), refusals);
                          refused(weft::close, refusals);
                          called.countDown();
                        });
                    asked.countDown();
                    if (!driven) {
                      assertThat(called.await(30, TimeUnit.SECONDS)).isTrue();
                    }
                    return handle.await(LIMIT);
                  }
                });
      }
      assertThat(refusals).hasSize(4 * ROUNDS).allMatch(text -> text.contains("wait for"));
      assertThat(refusals)
          .anyMatch(text -> text.contains("'never'") && text.contains("whenDone"))
          .anyMatch(text -> text.contains("close it on another thread"));
      job.ranks().forEach(weft -> weft.communicator().abort(new CommException.Setup("over", null)));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void waitingInAReceiverOfTheRendezvousIsRefused(String transport) throws InterruptedException {
    Queue<String> refusals = new ConcurrentLinkedQueue<>();
    try (LocalJob job = LocalJob.over(transport, 2);
        OwnedTensor never = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4));
        OwnedTensor sent = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4))) {
      Handle<TensorView> pending = allreduce(job.ranks().get(0), never, "never");
      CountDownLatch called = new CountDownLatch(1);
      var key = new RendezvousKey(new Edge(1, 1, 0, "edge"), 1, 0, 0);
      job.ranks()
          .get(0)
          .rendezvous()
          .receive(
              key,
              LIMIT,
              arrival -> {
                refused(() -> pending.await(LIMIT), refusals);
                if (arrival instanceof Arrival.Live live) {
                  live.tensor().close();
                }
                called.countDown();
                throw new AssertionError("a receiver that throws");
              });
      job.ranks().get(1).rendezvous().publish(key, sent.view(), () -> {});
      assertThat(called.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(refusals).singleElement().asString().contains("'never'");
      checkSum(job);
      job.ranks().forEach(weft -> weft.communicator().abort(new CommException.Setup("over", null)));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm", "tcp"})
  void anExceptionOfACallbackHarmsNoOperation(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      for (int round = 0; round < ROUNDS; round++) {
        boolean small = round % 2 == 0;
        var unused =
            job.run(
                weft -> {
                  try (OwnedTensor tensor =
                      OwnedTensor.allocate(DType.FLOAT32, Shape.of(small ? 4 : 500_000))) {
                    Handle<TensorView> handle = allreduce(weft, tensor, "thrown");
                    CompletableFuture<TensorView> second = new CompletableFuture<>();
                    handle.whenDone(
                        (_, _) -> {
                          throw new AssertionError("a callback that throws");
                        });
                    handle.whenDone((value, _) -> second.complete(value));
                    var result = handle.await(LIMIT);
                    assertThat(second.get(30, TimeUnit.SECONDS)).isSameAs(result);
                    return true;
                  }
                });
      }
      checkSum(job);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void anExceptionOfAFailureListenerHarmsNoOperation(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      Queue<CommException> heard = new ConcurrentLinkedQueue<>();
      for (Weft weft : job.ranks()) {
        weft.onFailure(
            cause -> {
              heard.add(cause);
              throw new StackOverflowError();
            });
      }
      job.ranks().get(0).communicator().abort(new CommException.Setup("enough", null));
      var unused =
          job.run(
              weft -> {
                try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4))) {
                  var gone = allreduce(weft, tensor, "after").await(LIMIT);
                  return gone == null;
                } catch (CommException.Aborted aborted) {
                  return true;
                }
              });
      assertThat(heard).hasSize(2);
      var again =
          job.run(
              weft -> {
                weft.communicator(weft.members()).barrier(named("again")).await(LIMIT);
                return true;
              });
      assertThat(again).hasSize(2);
    }
  }

  private static void checkSum(LocalJob job) {
    var unused =
        job.run(
            weft -> {
              try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(1000))) {
                return allreduce(weft, tensor, "works-on").await(LIMIT);
              }
            });
  }
}
