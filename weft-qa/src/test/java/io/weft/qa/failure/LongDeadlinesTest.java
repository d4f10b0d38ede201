// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.CommException;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.job.LocalJob;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks durations that exceed the nanoseconds of a `long`.
@Timeout(120)
class LongDeadlinesTest {

  private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

  private static final List<Duration> LONG =
      List.of(FOREVER, Duration.ofDays(293 * 366L), Duration.ofDays(291 * 365L));

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "shm", "tcp"})
  void deadlinesOfAnyLengthWork(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      for (Duration limit : LONG) {
        for (int elements : List.of(3, 5_000, 500_000)) {
          var unused = job.run(weft -> sum(weft, elements, named("long").within(limit), limit));
        }
        var met =
            job.run(
                weft -> {
                  weft.communicator().barrier(named("met").within(limit)).await(limit);
                  return true;
                });
        assertThat(met).hasSize(2);
      }
    }
  }

  private static boolean sum(Weft weft, int elements, CollectiveOptions options, Duration limit)
      throws InterruptedException {
    try (OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(elements))) {
      var result =
          weft.communicator()
              .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, options)
              .await(limit);
      return result.equals(tensor.view());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void aReceiveWithoutALimitCompletes(String transport) throws Exception {
    try (LocalJob job = LocalJob.over(transport, 2);
        OwnedTensor sent = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4))) {
      var key = new RendezvousKey(new Edge(1, 1, 0, "edge"), 1, 0, 0);
      CompletableFuture<Arrival> arrived = new CompletableFuture<>();
      job.ranks().get(0).rendezvous().receive(key, FOREVER, arrived::complete);
      job.ranks().get(1).rendezvous().publish(key, sent.view(), () -> {});
      Arrival arrival = arrived.get(60, TimeUnit.SECONDS);
      assertThat(arrival).isInstanceOf(Arrival.Live.class);
      if (arrival instanceof Arrival.Live live) {
        live.tensor().close();
      }
    }
  }

  @Test
  void aDeadlineInThePastTimesOut() {
    try (LocalJob job = LocalJob.over("inproc", 2);
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4))) {
      var handle =
          job.ranks()
              .get(0)
              .communicator()
              .allreduce(tensor.view(), tensor.view(), ReduceOp.SUM, named("alone"));
      for (Duration past : List.of(Duration.ofSeconds(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
        assertThatThrownBy(() -> handle.await(past)).isInstanceOf(CommException.TimedOut.class);
      }
      job.ranks().get(0).communicator().abort(new CommException.Setup("over", null));
    }
  }

  @Test
  void anInfiniteDeadlineInTheSettingsIsRefused() {
    WeftConfig.Builder builder = WeftConfig.builder();
    assertThatThrownBy(() -> builder.deadline(FOREVER).build())
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("168h");
    assertThatThrownBy(() -> WeftConfig.builder().startDeadline(FOREVER).build())
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("168h");
  }
}
