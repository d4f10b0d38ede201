// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.telemetry.flight.FlightConfig;
import io.weft.telemetry.flight.FlightFile;
import io.weft.telemetry.flight.FlightInstrument;
import io.weft.telemetry.flight.FlightLog;
import io.weft.telemetry.flight.FlightLog.CircleState;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.State;
import io.weft.testkit.job.LocalJob;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks the flight recorder on real ranks.
@Timeout(60)
class FlightTest {

  @TempDir Path directory;

  private WeftConfig config() {
    return WeftConfig.builder()
        .transport("tcp")
        .set(FlightConfig.DIRECTORY, directory.toString())
        .build();
  }

  private static List<Flight> named(FlightLog log, String name) {
    return log.operations().stream().filter(flight -> flight.name().equals(name)).toList();
  }

  @Test
  void aSilentRankLeavesALogAndTheOthersReportItsSilence() throws Exception {
    var over = new CountDownLatch(2);
    try (LocalJob job = LocalJob.start(3, config())) {
      job.run(
          weft -> {
            Communicator comm = weft.communicator();
            var unused = comm.barrier(CollectiveOptions.named("common")).await();
            if (weft.rank() < 2) {
              assertThatThrownBy(
                      () ->
                          comm.barrier(
                                  CollectiveOptions.named("awaited").within(Duration.ofSeconds(1)))
                              .await())
                  .isInstanceOf(CommException.Aborted.class);
              over.countDown();
              return true;
            }
            assertThat(over.await(40, TimeUnit.SECONDS)).isTrue();
            // The others have failed. This barrier fails when their failure has arrived here.
            assertThatThrownBy(() -> comm.barrier(CollectiveOptions.named("late")).await())
                .isInstanceOf(CommException.Aborted.class);
            return true;
          });
    }
    var files = new FlightFile(directory);
    for (int rank = 0; rank < 3; rank++) {
      FlightLog log = files.find(rank).orElseThrow();
      assertThat(log.self().rank()).isEqualTo(rank);
      assertThat(log.failures().getFirst().words()).contains("'awaited'").contains("rank 2");
      assertThat(log.communicators().getFirst().state()).isEqualTo(CircleState.FAILED);
      assertThat(named(log, "common"))
          .singleElement()
          .extracting(Flight::state)
          .isEqualTo(State.DONE);
      if (rank == 2) {
        assertThat(named(log, "awaited")).isEmpty();
        assertThat(log.failures().getFirst().toldBy()).isIn(0, 1);
      } else {
        Flight awaited = named(log, "awaited").getFirst();
        assertThat(awaited.state()).isEqualTo(State.FAILED);
        assertThat(awaited.use()).isEqualTo(1);
        assertThat(log.peers()).allMatch(peer -> peer.heardNanos() >= 0);
      }
    }
  }

  @Test
  void theLogOfABlockedProgressThreadShowsUntakenOperations() throws Exception {
    var inside = new CountDownLatch(1);
    var release = new CountDownLatch(1);
    try (LocalJob job = LocalJob.start(2, config())) {
      Weft still = job.ranks().getFirst();
      Handle<Void> last = still.communicator().barrier(CollectiveOptions.named("last"));
      last.whenDone(
          (value, failure) -> {
            inside.countDown();
            try {
              assertThat(release.await(40, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException interrupted) {
              Thread.currentThread().interrupt();
            }
          });
      Handle<Void> other =
          job.ranks().getLast().communicator().barrier(CollectiveOptions.named("last"));
      assertThat(inside.await(40, TimeUnit.SECONDS)).isTrue();
      Handle<Void> stuck = still.communicator().barrier(CollectiveOptions.named("stuck"));
      FlightLog log = FlightInstrument.log(still);
      assertThat(named(log, "last"))
          .singleElement()
          .extracting(Flight::state)
          .isEqualTo(State.DONE);
      assertThat(named(log, "stuck"))
          .singleElement()
          .extracting(Flight::state)
          .isEqualTo(State.SUBMITTED);
      release.countDown();
      Handle<Void> met =
          job.ranks().getLast().communicator().barrier(CollectiveOptions.named("stuck"));
      for (Handle<Void> handle : List.of(other, stuck, met)) {
        var unused = handle.await();
      }
      assertThat(named(FlightInstrument.log(still), "stuck"))
          .extracting(Flight::use)
          .containsExactly(1);
    }
    assertThat(new FlightFile(directory).find(0)).isEmpty();
  }
}
