// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.Member;
import io.weft.cluster.Processors;
import io.weft.cluster.Topology;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation.Service;
import io.weft.observer.OperationStage;
import io.weft.telemetry.TableRequest;
import io.weft.telemetry.flight.FlightLog.CircleState;
import io.weft.telemetry.flight.FlightLog.EventKind;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.State;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FlightRecorderTest {

  private final FlightRecorder recorder = joined();

  private static FlightRecorder joined() {
    var topology =
        new Topology(
            0,
            IntStream.range(0, 3)
                .mapToObj(
                    r -> new Member(r, r, 0, "node" + r, "77@" + r, Processors.UNKNOWN, List.of()))
                .toList());
    var recorder = new FlightRecorder();
    recorder.joined(FlightLog.Self.of("job", topology, 1), topology, 0, r -> 1_000L * r);
    recorder.onOpen(7, 0, 1, List.of(0, 1, 2));
    return recorder;
  }

  private Submission begin(Submission operation, long nanos) {
    recorder.reached(operation, OperationStage.STARTED, 0, nanos);
    return operation;
  }

  private List<Flight> flights() {
    return recorder.log(1).operations();
  }

  @Test
  void onlyTheLastOperationsAreKept() {
    for (int i = 0; i < 1000; i++) {
      recorder.ended(begin(Submission.of("g", i), i), null, i);
    }
    FlightLog log = recorder.log(1_000);
    assertThat(log.operations())
        .extracting(Flight::number)
        .containsExactlyElementsOf(LongStream.rangeClosed(745, 1000).boxed().toList());
    assertThat(log.operations().getLast().use()).isEqualTo(1000);
    assertThat(log.counts()).isEqualTo(new FlightLog.Counts(1_000, 0, 1000, 744));
  }

  @Test
  void operationsOnTablesAreKeptApartFromCollectives() throws Exception {
    recorder.ended(begin(Submission.of("g", 0), 5), null, 6);
    List<Thread> threads =
        IntStream.range(0, 3)
            .mapToObj(thread -> Thread.ofPlatform().start(() -> push(thread)))
            .toList();
    for (Thread thread : threads) {
      thread.join(20_000);
    }
    FlightLog log = recorder.log(1_000);
    assertThat(log.counts().begun()).as("collectives begun").isEqualTo(1);
    assertThat(log.failures()).isEmpty();
    assertThat(log.operations())
        .filteredOn(flight -> flight.communicator() == 0)
        .hasSize(FlightRecorder.KEPT + 3)
        .allSatisfy(flight -> assertThat(flight.words()).isEqualTo("server"))
        .filteredOn(flight -> flight.state() == State.RUNNING)
        .extracting(Flight::name)
        .containsExactlyInAnyOrder("pull t0", "pull t1", "pull t2");
  }

  /// Reports 1,000 pushes, of which every tenth fails, and a pull that does not end.
  private void push(int thread) {
    for (int i = 0; i <= 1_000; i++) {
      String name = (i == 1_000 ? "pull t" : "push t") + thread;
      var request = new TableRequest(Service.KV_SERVER, 3L * i + thread, name, "t", 1, 8);
      recorder.submitted(request);
      recorder.reached(request, OperationStage.STARTED, 0, i);
      if (i < 1_000) {
        recorder.ended(request, i % 10 == 0 ? new CommException.Mismatch("refused") : null, i);
      }
    }
  }

  @Test
  void aHangingOperationIsKept() {
    Submission hanging = begin(Submission.of("hanging", 0), 5);
    recorder.reached(hanging, OperationStage.EXCHANGE, 0, 5);
    for (int i = 0; i < 1000; i++) {
      recorder.ended(begin(Submission.of("g", i), i), null, i);
    }
    Flight first = flights().getFirst();
    assertThat(first.name()).isEqualTo("hanging");
    assertThat(first.state()).isEqualTo(State.RUNNING);
    assertThat(first.stage()).isEqualTo(1);
    assertThat(first.times()).isEqualTo(new FlightLog.Times(1_000, 5, FlightLog.NEVER));
    assertThat(flights()).hasSize(257);
  }

  @Test
  void aFullLogKeepsTheOldestOpenOperations() {
    for (int i = 0; i < OperationRing.MOST_OPEN + 1000; i++) {
      recorder.reached(begin(Submission.of("g" + i, 0), i), OperationStage.EXCHANGE, 0, i);
    }
    assertThat(flights()).hasSize(256).first().extracting(Flight::name).isEqualTo("g0");
    assertThat(recorder.log(1).counts().begun()).isEqualTo(OperationRing.MOST_OPEN + 1000);
  }

  @Test
  void aFailureIsKeptWithMissingRanksAndTheTimesOfPeers() {
    var alarms = new AtomicInteger();
    recorder.onFailure(alarms::incrementAndGet);
    var waiting = new Submission(1, 7, "g", "allreduce", 4, 8, 1_000, List.of(0), List.of(2));
    Submission number = begin(waiting, 2_000);
    recorder.reached(number, OperationStage.EXCHANGE, 0, 2_000);
    var cause = new CommException.Aborted("rank 2 is silent", null);
    recorder.onTold(0, cause, 9_000);
    recorder.onAborted(7, cause, 9_000);
    recorder.ended(waiting, cause, 9_000);
    FlightLog log = recorder.log(10_000);
    assertThat(log.failures())
        .containsExactly(new FlightLog.Failure(9_000, 7, "Aborted", 0, "", "rank 2 is silent"));
    Flight failed = log.operations().getFirst();
    assertThat(failed.state()).isEqualTo(State.FAILED);
    assertThat(failed.awaited()).containsExactly(0);
    assertThat(failed.unsubmitted()).containsExactly(2);
    assertThat(log.communicators().getFirst().state()).isEqualTo(CircleState.FAILED);
    assertThat(log.peers())
        .containsExactly(new FlightLog.Peer(0, "node0", 0), new FlightLog.Peer(2, "node2", 2_000));
    assertThat(log.events())
        .containsExactly(new FlightLog.Event(9_000, EventKind.ABORTED, 0, "rank 2 is silent"));
    assertThat(alarms).hasValue(2);
  }

  @Test
  void theFirstFailureIsKeptAmongMany() {
    for (int i = 0; i < 100; i++) {
      Submission number = begin(Submission.of("g", i), i);
      recorder.reached(number, OperationStage.EXCHANGE, 0, i);
      recorder.ended(Submission.of("g", i), new CommException.Mismatch("m" + i), i);
    }
    List<FlightLog.Failure> failures = recorder.log(1).failures();
    assertThat(failures).hasSize(16);
    assertThat(failures.getFirst().words()).isEqualTo("m0");
    assertThat(failures.get(1).words()).isEqualTo("m85");
    assertThat(failures.getLast().words()).isEqualTo("m99");
  }

  @Test
  void anOrderlyCloseIsAFailureOnlyForRunningOperations() {
    Submission running = begin(Submission.of("running", 0), 1);
    recorder.reached(running, OperationStage.EXCHANGE, 0, 1);
    recorder.onOpen(8, 0, 2, List.of(0, 1));
    var closed = new CommException.Aborted("closed", null);
    recorder.onClosed(8, 2);
    recorder.onAborted(8, closed, 2);
    var late = new Submission(2, 8, "late", "barrier", 0, 1, 3, List.of(), List.of());
    recorder.ended(begin(late, 3), closed, 3);
    assertThat(recorder.log(4).failures()).isEmpty();
    recorder.onClosed(7, 5);
    recorder.ended(Submission.of("running", 0), closed, 5);
    assertThat(recorder.log(6).failures())
        .extracting(FlightLog.Failure::operation)
        .containsExactly("running");
  }

  @Test
  void submittedOperationsAreShownBeforeTheyStart() {
    recorder.submitted(Submission.of("taken", 0));
    recorder.ended(begin(Submission.of("taken", 0), 1), null, 2);
    assertThat(recorder.busy()).isFalse();
    recorder.submitted(Submission.of("stuck", 0));
    assertThat(recorder.busy()).isTrue();
    assertThat(flights()).extracting(Flight::name).containsExactly("taken", "stuck");
    assertThat(flights().getLast().state()).isEqualTo(State.SUBMITTED);
  }

  @Test
  void withdrawnOperationsAreNotShown() {
    Submission refused = Submission.of("refused", 0);
    recorder.submitted(refused);
    recorder.withdrawn(refused, new CommException.TimedOut("full", List.of()), 5);
    assertThat(recorder.busy()).isFalse();
    assertThat(flights()).isEmpty();
  }

  @Test
  void aStallIsAnEvent() {
    recorder.onDutyCycle(10_000_000);
    recorder.onDutyCycle(2_510_000_000L);
    assertThat(recorder.log(3_000_000_000L).events())
        .containsExactly(new FlightLog.Event(2_510_000_000L, EventKind.STALLED, -1, "for 2500 ms"));
  }

  @Test
  void logTakenWhileOthersRecordIsConsistent() throws Exception {
    var ended = new AtomicBoolean();
    var begun = new CountDownLatch(1);
    CompletableFuture<Long> writer =
        CompletableFuture.supplyAsync(
            () -> {
              long count = 0;
              while (!ended.get()) {
                // Operation n has a name with n, and begins and ends at time n.
                count++;
                var operation = Submission.of("g" + count, (int) count - 1);
                Submission number = begin(operation, count);
                recorder.reached(number, OperationStage.EXCHANGE, 0, count);
                recorder.ended(number, null, count);
                begun.countDown();
              }
              return count;
            });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    for (int i = 0; i < 2_000; i++) {
      for (Flight flight : flights()) {
        assertThat(flight.name()).isEqualTo("g" + flight.number());
        assertThat(flight.use()).isEqualTo((int) flight.number());
        assertThat(flight.times().begunNanos()).isEqualTo(flight.number());
        assertThat(flight.times().endedNanos())
            .isEqualTo(flight.state() == State.RUNNING ? FlightLog.NEVER : flight.number());
      }
    }
    ended.set(true);
    assertThat(writer.get(30, TimeUnit.SECONDS)).isPositive();
  }
}
