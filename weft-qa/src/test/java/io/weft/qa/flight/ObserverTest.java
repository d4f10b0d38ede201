// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.flight;

import static io.weft.cluster.channel.RequestChannel.FIRST_FREE_KIND;
import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.cluster.channel.Request;
import io.weft.cluster.channel.RequestOutcome;
import io.weft.collective.AllreduceRequest;
import io.weft.collective.Communicator;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.testkit.job.ExpectedFailures;
import io.weft.testkit.job.LocalJob;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.Simulation;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks the events that observers receive for the operations of all services.
@Timeout(120)
class ObserverTest {

  private static void allreduce(Weft weft, String name, int elements) throws InterruptedException {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
      weft.communicator()
          .allreduce(new AllreduceRequest(tensor.view(), ReduceOp.SUM, named(name)))
          .await();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "inproc, 1",
    "inproc, 300000",
    "tcp, 1",
    "tcp, 300000",
    "shm, 1",
    "shm, 3000",
    "shm, 300000"
  })
  void anOperationIsObservedFromItsSubmissionToItsEnd(String transport, int elements) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            var recorder = new EventRecorder();
            weft.observe(recorder);
            allreduce(weft, "g", elements);
            weft.unobserve(recorder);
            allreduce(weft, "unseen", elements);
            assertThat(recorder.requireWhole("g"))
                .startsWith("SUBMITTED", "STARTED", "EXCHANGE")
                .contains("SENT", "REDUCED")
                .endsWith("DONE");
            if (transport.equals("tcp")) {
              assertThat(recorder.of("g").getLast().lastHeard()).isEqualTo(1 - weft.rank());
            }
            assertThat(recorder.of("unseen")).isEmpty();
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aFailureEndsAnOperation(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            var recorder = new EventRecorder();
            weft.observe(recorder);
            try (OwnedTensor tensor =
                OwnedTensor.allocate(DType.FLOAT32, Shape.of(2 + weft.rank()))) {
              var unused =
                  ExpectedFailures.of(
                      weft.communicator()
                          .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named("differs")));
            }
            assertThat(recorder.requireWhole("differs"))
                .startsWith("SUBMITTED", "STARTED")
                .endsWith("Mismatch");
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void aDefectiveObserverHarmsNoOperationAndNoOtherObserver(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            var recorder = new EventRecorder();
            var calls = new int[1];
            weft.observe(
                new OperationObserver() {
                  @Override
                  public void submitted(ObservedOperation operation) {
                    calls[0]++;
                    throw new IllegalStateException("a defect");
                  }
                });
            weft.observe(recorder);
            allreduce(weft, "first", 10);
            allreduce(weft, "second", 10);
            assertThat(recorder.words("second")).endsWith("DONE");
            assertThat(calls[0]).isEqualTo(1);
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void collectivesOfAllKindsReportSentAndReceivedData(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      job.run(
          weft -> {
            var recorder = new EventRecorder();
            weft.observe(recorder);
            Communicator all = weft.communicator();
            try (OwnedTensor own = OwnedTensor.allocate(DType.FLOAT32, Shape.of(9, 1000));
                OwnedTensor rows = OwnedTensor.allocate(DType.FLOAT32, Shape.of(3, 1000));
                TensorLease lent = weft.allocate(DType.FLOAT32, Shape.of(9, 100_000));
                TensorLease third = weft.allocate(DType.FLOAT32, Shape.of(3, 100_000))) {
              all.broadcast(own.view(), 1, named("broadcast")).await();
              all.broadcast(lent.view(), 0, named("broadcast, lent")).await();
              all.reduceScatter(own.view(), rows.view(), ReduceOp.SUM, named("scatter")).await();
              all.reduceScatter(lent.view(), third.view(), ReduceOp.SUM, named("scatter, lent"))
                  .await();
              all.allreduce(lent.view(), lent.view(), ReduceOp.SUM, named("sum, lent")).await();
              all.allgather(own.view(), named("gather")).await().close();
              all.allgather(lent.view(), named("gather, lent")).await().close();
              all.alltoall(lent.view(), List.of(4L, 3L, 2L), named("all to all"))
                  .await()
                  .tensor()
                  .close();
              all.barrier(named("barrier")).await();
            }
            for (String name :
                List.of(
                    "broadcast",
                    "broadcast, lent",
                    "scatter",
                    "scatter, lent",
                    "sum, lent",
                    "gather",
                    "gather, lent",
                    "all to all",
                    "barrier")) {
              assertThat(recorder.requireWhole(name))
                  .as(name)
                  .startsWith("SUBMITTED", "STARTED", "EXCHANGE")
                  .contains("SENT", "REDUCED")
                  .endsWith("DONE");
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @CsvSource({"inproc, 100000", "tcp, 100000", "shm, 100000", "inproc, 10", "tcp, 10", "shm, 10"})
  void tensorsOfTheRendezvousAreObservedAtBothEnds(String transport, int elements) {
    try (LocalJob job = LocalJob.over(transport, 2);
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
      var key = new RendezvousKey(new Edge(0, 1, 1, "edge"), 1, 0, 0);
      var released = new CompletableFuture<Boolean>();
      Weft source = job.ranks().get(0);
      Weft destination = job.ranks().get(1);
      var recorder = new EventRecorder();
      var published = new EventRecorder();
      destination.observe(recorder);
      source.observe(published);
      var arrived = new CompletableFuture<Arrival>();
      destination.rendezvous().receive(key, Duration.ofSeconds(30), arrived::complete);
      source.rendezvous().publish(key, tensor.view(), () -> released.complete(true));
      assertThat(arrived.orTimeout(60, TimeUnit.SECONDS).join()).isInstanceOf(Arrival.Live.class);
      if (arrived.join() instanceof Arrival.Live live) {
        live.tensor().close();
      }
      assertThat(released.orTimeout(60, TimeUnit.SECONDS).join()).isTrue();
      assertThat(recorder.requireWhole("edge"))
          .containsExactly("SUBMITTED", "STARTED", "SENT", "NEGOTIATED", "REDUCED", "DONE");
      assertThat(recorder.of("edge").getLast().lastHeard()).isZero();
      assertThat(published.requireWhole("edge"))
          .containsExactly("SUBMITTED", "STARTED", "NEGOTIATED", "SENT", "DONE");
      assertThat(published.of("edge").getLast().lastHeard()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void tensorsOfAnAbortedStepFailAtBothEnds(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2);
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(10))) {
      Weft weft = job.ranks().get(0);
      var recorder = new EventRecorder();
      weft.observe(recorder);
      var released = new CompletableFuture<Boolean>();
      var arrived = new CompletableFuture<Arrival>();
      var never = new RendezvousKey(new Edge(1, 1, 0, "never"), 1, 0, 0);
      var unwanted = new RendezvousKey(new Edge(0, 1, 1, "unwanted"), 1, 0, 0);
      weft.rendezvous().receive(never, Duration.ofSeconds(30), arrived::complete);
      weft.rendezvous().publish(unwanted, tensor.view(), () -> released.complete(true));
      weft.rendezvous().abort(1, "the test says so");
      assertThat(arrived.orTimeout(60, TimeUnit.SECONDS).join()).isInstanceOf(Arrival.Failed.class);
      assertThat(released.orTimeout(60, TimeUnit.SECONDS).join()).isTrue();
      assertThat(recorder.requireWhole("never")).endsWith("Aborted");
      assertThat(recorder.requireWhole("unwanted")).endsWith("Aborted");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void requestsOfTheChannelAreObserved(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      Weft weft = job.ranks().get(0);
      MemorySegment none = MemorySegment.NULL;
      job.ranks().get(1).channel().serve(FIRST_FREE_KIND, request -> request.reply(none));
      var recorder = new EventRecorder();
      weft.observe(recorder);
      var replied = new CompletableFuture<RequestOutcome>();
      assertThat(
              weft.channel()
                  .tryRequest(
                      1,
                      Request.of(FIRST_FREE_KIND, none, none, Duration.ofSeconds(30)),
                      replied::complete))
          .isTrue();
      assertThat(replied.get(30, TimeUnit.SECONDS)).isInstanceOf(RequestOutcome.Replied.class);
      assertThat(recorder.requireWhole("request"))
          .containsExactly("SUBMITTED", "STARTED", "SENT", "DONE");
      assertThat(recorder.of("request").getLast().lastHeard()).isEqualTo(1);
      weft.unobserve(recorder);
      job.ranks().get(1).channel().serve(FIRST_FREE_KIND, request -> {});
      var failures = new EventRecorder();
      weft.observe(failures);
      var late = new CompletableFuture<RequestOutcome>();
      assertThat(
              weft.channel()
                  .tryRequest(
                      1,
                      Request.of(FIRST_FREE_KIND, none, none, Duration.ofMillis(20)),
                      late::complete))
          .isTrue();
      assertThat(late.get(30, TimeUnit.SECONDS)).isInstanceOf(RequestOutcome.Failed.class);
      assertThat(failures.requireWhole("request")).endsWith("TimedOut");
      assertThat(failures.of("request").getLast().lastHeard()).isEqualTo(-1);
    }
  }

  @Test
  void timesAreSimulatedInTheSimulator() throws InterruptedException {
    SimReport<Long> report =
        Simulation.of(3)
            .hosts(3)
            .runRanks(
                self -> {
                  try (Weft weft = self.join()) {
                    var recorder = new EventRecorder();
                    weft.observe(recorder);
                    self.compute(Duration.ofMillis(self.rank() == 2 ? 50 : 0));
                    allreduce(weft, "g", 10);
                    assertThat(recorder.requireWhole("g")).endsWith("DONE");
                    List<EventRecorder.Event> events = recorder.of("g");
                    return events.getLast().nanos() - events.getFirst().nanos();
                  }
                });
    assertThat(report.values().get(0)).isBetween(49_000_000L, 80_000_000L);
    assertThat(report.values().get(2)).isLessThan(20_000_000L);
  }
}
