// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.flight;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.CommException;
import io.weft.Weft;
import io.weft.collective.AllreduceRequest;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import io.weft.observer.OperationStage;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.job.ExpectedFailures;
import io.weft.testkit.job.LocalJob;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What observers hear of operations, of all services.
@Timeout(120)
class ObserverTest {

  private record Event(String what, long id, String name, long nanos, int lastHeard) {}

  private static final class Recorder implements OperationObserver {
    private final List<Event> events = new ArrayList<>();

    private synchronized void add(String what, ObservedOperation operation, long nanos) {
      events.add(new Event(what, operation.id(), operation.name(), nanos, operation.lastHeard()));
    }

    @Override
    public void submitted(ObservedOperation operation) {
      add("SUBMITTED", operation, operation.submittedNanos());
    }

    @Override
    public void reached(
        ObservedOperation operation, OperationStage stage, int exchange, long nanos) {
      add(stage.toString(), operation, nanos);
    }

    @Override
    public void ended(ObservedOperation operation, @Nullable CommException failure, long nanos) {
      add(failure == null ? "DONE" : failure.getClass().getSimpleName(), operation, nanos);
    }

    synchronized List<Event> of(String name) {
      return events.stream().filter(event -> event.name().equals(name)).toList();
    }

    List<String> words(String name) {
      return of(name).stream().map(Event::what).toList();
    }
  }

  private static void allreduce(Weft weft, String name, int elements) throws InterruptedException {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
      weft.communicator()
          .allreduce(new AllreduceRequest(tensor.view(), ReduceOp.SUM, named(name)))
          .await();
    }
  }

  private static void requireTrueTimes(List<Event> events) {
    assertThat(events).extracting(Event::id).containsOnly(events.getFirst().id());
    assertThat(events).extracting(Event::nanos).isSorted();
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
  void operationIsSeenFromItsSubmissionToItsEnd(String transport, int elements) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            var recorder = new Recorder();
            weft.observe(recorder);
            allreduce(weft, "g", elements);
            weft.unobserve(recorder);
            allreduce(weft, "unseen", elements);
            List<Event> events = recorder.of("g");
            assertThat(events).extracting(Event::what).startsWith("SUBMITTED", "STARTED");
            assertThat(events).extracting(Event::what).endsWith("DONE");
            assertThat(events).extracting(Event::what).contains("EXCHANGE");
            requireTrueTimes(events);
            if (transport.equals("tcp")) {
              assertThat(events).extracting(Event::what).contains("SENT", "REDUCED");
              assertThat(events.getLast().lastHeard()).isEqualTo(1 - weft.rank());
            }
            assertThat(recorder.of("unseen")).isEmpty();
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void failureEndsAnOperation(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            var recorder = new Recorder();
            weft.observe(recorder);
            try (OwnedTensor tensor =
                OwnedTensor.allocate(DType.FLOAT32, Shape.of(2 + weft.rank()))) {
              var unused =
                  ExpectedFailures.of(
                      weft.communicator()
                          .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named("differs")));
            }
            assertThat(recorder.words("differs"))
                .startsWith("SUBMITTED", "STARTED")
                .endsWith("Mismatch")
                .doesNotContain("DONE");
            requireTrueTimes(recorder.of("differs"));
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void defectOfOneObserverHarmsNeitherOperationsNorOtherObservers(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            var recorder = new Recorder();
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
  void receivesOfTheRendezvousAreSeenToo(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2);
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(100_000))) {
      var key = new RendezvousKey(new Edge(0, 1, 1, "edge"), 1, 0, 0);
      var released = new CompletableFuture<Boolean>();
      Weft source = job.ranks().get(0);
      Weft destination = job.ranks().get(1);
      var recorder = new Recorder();
      destination.observe(recorder);
      var arrived = new CompletableFuture<Arrival>();
      destination.rendezvous().receive(key, Duration.ofSeconds(30), arrived::complete);
      source.rendezvous().publish(key, tensor.view(), () -> released.complete(true));
      assertThat(arrived.orTimeout(60, TimeUnit.SECONDS).join()).isInstanceOf(Arrival.Live.class);
      if (arrived.join() instanceof Arrival.Live live) {
        live.tensor().close();
      }
      assertThat(recorder.words("edge"))
          .containsExactly("SUBMITTED", "STARTED", "NEGOTIATED", "DONE");
      requireTrueTimes(recorder.of("edge"));
      assertThat(recorder.of("edge").getLast().lastHeard()).isZero();
      assertThat(released.orTimeout(60, TimeUnit.SECONDS).join()).isTrue();
    }
  }

  @Test
  void timesAreTheSimulatedOnesInTheSimulator() throws InterruptedException {
    SimReport<Long> report =
        Simulation.of(3)
            .hosts(3)
            .runRanks(
                self -> {
                  try (Weft weft = self.join()) {
                    var recorder = new Recorder();
                    weft.observe(recorder);
                    self.compute(Duration.ofMillis(self.rank() == 2 ? 50 : 0));
                    allreduce(weft, "g", 10);
                    List<Event> events = recorder.of("g");
                    requireTrueTimes(events);
                    return events.getLast().nanos() - events.getFirst().nanos();
                  }
                });
    assertThat(report.values().get(0)).isBetween(49_000_000L, 80_000_000L);
    assertThat(report.values().get(2)).isLessThan(20_000_000L);
  }
}
