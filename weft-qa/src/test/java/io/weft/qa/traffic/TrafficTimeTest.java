// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.rendezvous.TransferRequests;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.SimLink;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TrafficTimeTest {

  private static final int SERVERS = 3;
  private static final int TENSORS = 30;
  private static final Duration COMPUTE = Duration.ofMillis(2);

  private static SimTraffic traffic(int workers) {
    return new SimTraffic(SERVERS, workers, TENSORS, 256, COMPUTE, 4);
  }

  private static TrafficTime.Measured measure(int workers, TransferRequests requests, SimLink link)
      throws InterruptedException {
    SimTraffic traffic = traffic(workers);
    return TrafficTime.of(
        Simulation.of(traffic.ranks()).hosts(traffic.ranks()).between(link), traffic, requests);
  }

  @Test
  void fusedRequestsAreSentOncePerServer() throws InterruptedException {
    TrafficTime.Measured fused = measure(4, TransferRequests.FUSED, SimLink.ETHERNET);
    assertThat(fused.requestsPerStep()).isEqualTo(SERVERS);
    assertThat(fused.meanStep()).isBetween(COMPUTE, COMPUTE.multipliedBy(2));
    assertThat(fused.stepsPerSecond()).isCloseTo(4e9 / fused.meanStep().toNanos(), within(50.0));
  }

  @Test
  void singleRequestsAreSentOncePerTensor() throws InterruptedException {
    TrafficTime.Measured single = measure(4, TransferRequests.SINGLE, SimLink.ETHERNET);
    assertThat(single.requestsPerStep()).isEqualTo(TENSORS);
    assertThat(single.messagesPerStep()).isEqualTo(2 * TENSORS);
  }

  @Test
  void expensiveMessagesDelayManyWorkersUnlessTheyAreFused() throws InterruptedException {
    SimLink dear = SimLink.of(Duration.ofNanos(20_000), 1.25e9, Duration.ofNanos(20_000));
    double fused = measure(12, TransferRequests.FUSED, dear).stepsPerSecond();
    double single = measure(12, TransferRequests.SINGLE, dear).stepsPerSecond();
    assertThat(fused).isGreaterThan(2 * single);
  }

  @Test
  void theSameSeedGivesTheSameTimes() throws InterruptedException {
    assertThat(measure(3, TransferRequests.FUSED, SimLink.ETHERNET))
        .isEqualTo(measure(3, TransferRequests.FUSED, SimLink.ETHERNET));
  }

  @Test
  void fewerTensorsThanServersAreRefused() {
    assertThatThrownBy(() -> new SimTraffic(8, 1, 7, 256, COMPUTE, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("8 servers, 1 workers, 7 tensors");
  }
}
