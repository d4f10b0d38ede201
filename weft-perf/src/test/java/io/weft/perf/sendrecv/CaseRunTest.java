// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.sendrecv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.tensorflow.session.WeftServer;
import io.weft.tensorflow.session.WeftSession;
import io.weft.testkit.job.LocalJob;
import io.weft.workloads.parameterserver.GraphSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks cases between two tasks of one process.
class CaseRunTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final int STEPS = 4;

  @ParameterizedTest
  @CsvSource({"0, 0, 0", "1, 1, 2", "1, 100000, 2", "20, 3, 2"})
  void contentsAreRightAndRequestsAreCounted(int tensors, int elements, double requests) {
    CaseRun.StepTimes times = measured(ExchangeGraph.of(tensors, elements));
    assertThat(times.right()).isTrue();
    assertThat(times.nanos()).hasSize(STEPS).doesNotContain(0);
    assertThat(times.requests()).isBetween(requests / 2, requests + 1);
  }

  @Test
  void otherContentsAreWrong() {
    ExchangeGraph three = ExchangeGraph.of(3, 8);
    assertThat(measured(new ExchangeGraph(2, 8, three.graph())).right()).isFalse();
  }

  private static CaseRun.StepTimes measured(ExchangeGraph exchange) {
    Map<String, String> settings = Map.of("WEFT_TRANSPORT", "inproc");
    try (LocalJob job = LocalJob.start(2, WeftConfig.load(settings, new Properties()))) {
      return job.run(weft -> task(weft, exchange)).stream()
          .flatMap(List::stream)
          .findFirst()
          .orElseThrow();
    }
  }

  private static List<CaseRun.StepTimes> task(Weft weft, ExchangeGraph exchange)
      throws InterruptedException {
    try (weft;
        WeftServer server = WeftServer.start(weft, Tasks.cluster(1, 2))) {
      if (weft.rank() > 0) {
        server.join(LONG);
        return List.of();
      }
      var session =
          new GraphSession.OfWeft(
              WeftSession.open(server, exchange.graph(), LONG),
              () -> weft.rendezvous().counts().totals().requests());
      try (var run = new CaseRun(exchange, session, LONG, weft::transfers)) {
        run.warmUp(Duration.ZERO);
        return List.of(run.measure(STEPS));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sendrecv:weft:60 10",
        "sendrecv:weft:60 ten 4:1:1",
        "sendrecv:mpi:60 10 4:1:1",
        "sendrecv:grpc:60:1 10 4:1:1",
        "sendrecv:weft:60 10 6:1:1",
        "sendrecv:weft 10 4:1:1",
        "sendrecv:weft:60 10 0:1:1"
      })
  void wrongArgumentsAreRefused(String line) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SendRecvRank.arguments(List.of(line.split(" "))))
        .withMessageStartingWith("usage: ");
  }
}
