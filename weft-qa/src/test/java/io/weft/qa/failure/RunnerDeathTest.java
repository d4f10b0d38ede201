// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.qa.flight.EventRecorder;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.job.ExpectedFailures;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that every waiting caller soon learns the cause when the progress thread dies.
@Timeout(120)
class RunnerDeathTest {

  private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm", "tcp"})
  void allWaitingCallersLearnTheCause(String transport) throws Exception {
    BrittleProvider brittle = BrittleProvider.of(transport);
    try (LocalJob job = brittle.job(2);
        OwnedTensor small = OwnedTensor.allocate(DType.FLOAT32, Shape.of(3));
        OwnedTensor longer = OwnedTensor.allocate(DType.FLOAT32, Shape.of(5_000));
        OwnedTensor longest = OwnedTensor.allocate(DType.FLOAT32, Shape.of(3_000_000))) {
      Weft weft = job.ranks().get(0);
      Communicator all = weft.communicator();
      var recorder = new EventRecorder();
      weft.observe(recorder);
      List<Handle<?>> handles = new ArrayList<>();
      for (OwnedTensor one : List.of(small, longer, longest)) {
        handles.add(
            all.allreduce(
                one.view(),
                one.view(),
                ReduceOp.SUM,
                named("of " + one.view().bytes()).within(FOREVER)));
      }
      handles.add(all.barrier(named("barrier").within(FOREVER)));
      CompletableFuture<Arrival> arrival = new CompletableFuture<>();
      weft.rendezvous()
          .receive(
              new RendezvousKey(new Edge(1, 1, 0, "edge"), 1, 0, 0), FOREVER, arrival::complete);
      List<FutureTask<CommException>> waiters = new ArrayList<>();
      CountDownLatch waiting = new CountDownLatch(handles.size());
      for (Handle<?> handle : handles) {
        FutureTask<CommException> waiter =
            new FutureTask<>(
                () -> {
                  waiting.countDown();
                  return ExpectedFailures.of(handle);
                });
        waiters.add(waiter);
        Thread.ofPlatform().start(waiter);
      }
      assertThat(waiting.await(30, TimeUnit.SECONDS)).isTrue();
      brittle.victim().set(0);
      for (FutureTask<CommException> waiter : waiters) {
        assertThat(waiter.get(30, TimeUnit.SECONDS))
            .isInstanceOf(CommException.Aborted.class)
            .hasMessageContaining("rehearsed defect");
      }
      assertThat(arrival.get(30, TimeUnit.SECONDS)).isInstanceOf(Arrival.Failed.class);
      Handle<Void> late = all.barrier(named("late").within(FOREVER));
      assertThat(ExpectedFailures.of(late)).hasMessageContaining("rehearsed defect");
      for (String name : List.of("of 12", "of 20000", "of 12000000", "barrier", "edge", "late")) {
        assertThat(recorder.requireWhole(name)).as(name).endsWith("Aborted");
      }
    }
  }
}
