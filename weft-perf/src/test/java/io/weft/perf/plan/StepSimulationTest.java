// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.data.Percentage.withPercentage;

import io.weft.perf.gradients.GradientModel;
import io.weft.perf.gradients.GradientModel.ModelVariable;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks simulated steps against cases computed by hand. Steps take 30 ms on one rank, 10 of them
/// forward; the link carries a byte per nanosecond.
class StepSimulationTest {

  private static final double MILLI = 1e6;
  private static final long BUFFER = 64 << 20;

  private static PlanLink link(double nanosPerByte) {
    return new PlanLink("test", 1e9, Duration.ZERO, Duration.ZERO, nanosPerByte);
  }

  /// Returns a network of equal tensors, which share the backward pass equally.
  private static GradientModel network(int tensors, long bytesEach) {
    List<ModelVariable> variables =
        IntStream.range(0, tensors)
            .mapToObj(i -> ModelVariable.dense("v" + i, bytesEach / Float.BYTES, 1))
            .toList();
    return GradientModel.of("test", variables, Duration.ofMillis(30));
  }

  private static StepSimulation on(int ranks, GradientModel model, PlanLink link) {
    return new StepSimulation(model, link, new PlanRanks(ranks, 1, 1));
  }

  @Test
  void oneRankExchangesNothing() {
    StepSimulation one = on(1, network(3, 4096), link(1));
    assertThat(one.fused(BUFFER)).isEqualTo(30 * MILLI);
    assertThat(one.single()).isEqualTo(30 * MILLI);
  }

  /// The only gradient is ready at the end of the step, so all of its transfer is exposed.
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16, 64})
  void equalRanksSendTheBytesOfARing(int ranks) {
    long bytes = 64 << 20;
    StepSimulation step = on(ranks, network(1, bytes), link(0));
    double ring = 2.0 * (ranks - 1) / ranks * bytes;
    assertThat(step.single() - 30 * MILLI).isCloseTo(ring, withPercentage(1));
    assertThat(step.fused(BUFFER) - 30 * MILLI).isCloseTo(ring, withPercentage(1));
  }

  @Test
  void ranksOfAHostShareItsLinkAndSendOnePart() {
    long bytes = 64 << 20;
    GradientModel model = network(1, bytes);
    double step = new StepSimulation(model, link(0), new PlanRanks(8, 4, 0)).single();
    double within = 2.0 * 3 / 4 * bytes / 10;
    assertThat(step - 30 * MILLI).isCloseTo(bytes + within, withPercentage(1));
  }

  /// Gradients of 5 MB are ready after 20 and 30 ms, and take 5 ms each between two ranks.
  @Test
  void transfersOverlapWithTheBackwardPass() {
    var step = new StepSimulation(network(2, 5_000_000), link(0), new PlanRanks(2, 1, 0));
    assertThat(step.single()).isCloseTo(35 * MILLI, withPercentage(0.5));
  }

  /// A transfer of 5 MB takes 1 ms of processor time for sending, 1 ms for receiving and 0.5 ms for
  /// adding, in which the second gradient is not computed.
  @ParameterizedTest
  @CsvSource({"0, 35", "1, 37.5", "2, 36.25"})
  void processorsThatMoveBytesComputeLater(int processors, double millis) {
    GradientModel model = network(2, 5_000_000);
    var step = new StepSimulation(model, link(0.2), new PlanRanks(2, 1, processors));
    assertThat(step.single()).isCloseTo(millis * MILLI, withPercentage(0.5));
  }

  /// On eight ranks a short tensor takes three rounds.
  @Test
  void latencyBoundsManyShortTensorsUnlessTheyAreFused() {
    var slow = new PlanLink("far", 1e9, Duration.ofNanos(100_000), Duration.ZERO, 0);
    GradientModel model =
        GradientModel.of(
            "test",
            IntStream.range(0, 100)
                .mapToObj(i -> ModelVariable.dense("v" + i, 100, i == 0 ? 1 : 1e-9))
                .toList(),
            Duration.ofMillis(30));
    var step = new StepSimulation(model, slow, new PlanRanks(8, 1, 0));
    double begin = 10 * MILLI; // all gradients but one are ready after the forward pass
    assertThat(step.single() - begin).isCloseTo(100 * 0.3 * MILLI, withPercentage(5));
    assertThat(step.fused(BUFFER) - 30 * MILLI).isBetween(0.3 * MILLI, 1.2 * MILLI);
  }

  /// Eight workers push and pull ten tensors of 4 MB: 40 ms of a worker's link, eight times that of
  /// a single server. The pull of the last tensor begins after its push.
  @ParameterizedTest
  @CsvSource({"1, 352", "2, 176", "4, 88", "8, 44", "16, 44"})
  void serversShareTheBytesOfAllWorkers(int servers, double millis) {
    double step = on(8, network(10, 4_000_000), link(0)).pushPull(servers);
    assertThat(step - 30 * MILLI).isCloseTo(millis * MILLI, withPercentage(0.1));
  }

  @Test
  void serversHaveAsManyPartsAsTensorsAtMost() {
    StepSimulation step = on(8, network(2, 4_000_000), link(0));
    assertThat(step.pushPull(8)).isEqualTo(step.pushPull(2));
  }

  /// The processor of a server receives, adds and sends 40 MB for each of eight workers: 84 ms.
  @Test
  void theProcessorsOfServersLimit() {
    double step = on(8, network(10, 4_000_000), link(1)).pushPull(8);
    assertThat(step - 30 * MILLI).isCloseTo(84 * 1.1 * MILLI, withPercentage(0.1));
  }

  /// A worker receives for 40 ms. The first gradient is ready 12 ms later, and ten of 4 ms follow
  /// each other.
  @Test
  void graphServersSendBeforeAndReceiveDuringTheBackwardPass() {
    double step = on(1, network(10, 4_000_000), link(0)).sendReceive(1);
    assertThat(step).isCloseTo((40 + 12 + 40) * MILLI, withPercentage(0.1));
    double eight = on(8, network(10, 4_000_000), link(0)).sendReceive(1);
    assertThat(eight).as("the server's link").isCloseTo(8 * 40 * MILLI, withPercentage(0.1));
  }

  @Test
  void impossibleRanksAndLinksAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new PlanRanks(0, 1, 1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PlanLink("x", Double.NaN, Duration.ZERO, Duration.ZERO, 0))
        .withMessageContaining("link x: NaN bytes/s");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PlanLink.named("100g"))
        .withMessageContaining("--link: unknown link '100g'; allowed: 1g, 10g, 25g, 40g, rdma-25g");
  }
}
