// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.perf.gradients.GradientModel;
import io.weft.perf.gradients.GradientModel.ModelVariable;
import io.weft.perf.plan.StepPlan.Choice;
import io.weft.perf.plan.StepPlan.PlanPoint;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StepPlanTest {

  private static final List<PlanRanks> JOBS =
      IntStream.of(1, 2, 16).mapToObj(count -> new PlanRanks(count, 1, 1)).toList();

  private static GradientModel model(int tensors, long elements, long servedBytes, int millis) {
    List<ModelVariable> variables =
        IntStream.range(0, tensors)
            .mapToObj(i -> new ModelVariable("v" + i, elements, 1, servedBytes))
            .toList();
    return GradientModel.of("net", variables, Duration.ofMillis(millis));
  }

  private static StepPlan plan(GradientModel model, PlanLink link, List<PlanRanks> jobs) {
    return StepPlan.of(model, model, link, jobs);
  }

  @Test
  void ranksThatCompeteForMemoryComputeLonger() {
    GradientModel alone = model(1, 100, 400, 100);
    GradientModel busy = model(1, 100, 400, 130);
    StepPlan plan = StepPlan.of(alone, busy, PlanLink.named("10g"), JOBS);
    assertThat(plan.points().getFirst().allreduce()).isEqualTo(100e6);
    assertThat(plan.largest().allreduce()).isBetween(130e6, 131e6);
  }

  @Test
  void stepsWaitForTheSlowestRankUnlessWorkersAreIndependent() {
    GradientModel model = model(10, 1000, 4000, 100);
    StepPlan plan = StepPlan.of(model, model, new StepSpread(0.1), PlanLink.named("10g"), JOBS);
    StepPlan equal = plan(model, PlanLink.named("10g"), JOBS);
    // The expected maximum of 16 numbers with the standard normal distribution is 1.766.
    assertThat(plan.largest().allreduce()).isBetween(117.6e6, 119e6);
    assertThat(plan.largest().pushPull()).isBetween(117.6e6, 119e6);
    assertThat(plan.largest().sendReceive()).isEqualTo(equal.largest().sendReceive());
    assertThat(plan.points().getFirst().allreduce()).isBetween(99.99e6, 100.01e6);
    assertThat(plan.limit()).isEqualTo("the slowest rank");
  }

  @Test
  void theExpectedMaximumOfNormalNumbersIsThatOfTables() {
    assertThat(StepSpread.expectedMaximum(1)).isCloseTo(0, within(1e-3));
    assertThat(StepSpread.expectedMaximum(2)).isCloseTo(0.56419, within(1e-3));
    assertThat(StepSpread.expectedMaximum(10)).isCloseTo(1.53875, within(1e-3));
    assertThat(StepSpread.expectedMaximum(100)).isCloseTo(2.50759, within(1e-3));
  }

  @Test
  void smallGradientsAreAllreducedAndTheComputationLimits() {
    StepPlan plan = plan(model(10, 1000, 4000, 100), PlanLink.named("10g"), JOBS);
    assertThat(plan.choice()).isEqualTo(Choice.ALLREDUCE);
    assertThat(plan.servers()).isZero();
    assertThat(plan.limit()).isEqualTo("the computation");
    assertThat(plan.largest().allreduce()).isBetween(100e6, 102e6);
    assertThat(plan.points().stream().map(PlanPoint::ranks)).containsExactly(1, 2, 16);
  }

  @Test
  void tablesOfWhichAStepUsesFewRowsGoToServers() {
    StepPlan plan = plan(model(100, 1_000_000, 4_000, 100), PlanLink.named("1g"), JOBS);
    assertThat(plan.choice()).isEqualTo(Choice.SERVERS);
    assertThat(plan.servers()).isBetween(1, 16);
    assertThat(new PlanReport(plan, 32, 1, 1, Optional.empty()).reason())
        .contains("on 16 ranks", "pushes 400.0 KB instead of 400.0 MB");
  }

  @Test
  void theLinkLimitsLargeGradients() {
    GradientModel large = model(10, 5_000_000, 20_000_000, 100);
    StepPlan slow = plan(large, PlanLink.named("1g"), JOBS);
    StepPlan fast = plan(large, PlanLink.named("rdma-40g"), JOBS);
    assertThat(slow.limit()).isEqualTo("the speed of the link");
    assertThat(slow.largest().allreduce()).isGreaterThan(10 * fast.largest().allreduce());
  }

  @Test
  void manyShortTensorsAreFusedOnALinkOfHighLatency() {
    StepPlan plan = plan(model(1000, 100, 400, 1), PlanLink.named("1g"), JOBS);
    assertThat(plan.fusionBytes()).isPositive();
  }

  @Test
  void fewerServersThanWorkersSufficeForALongComputation() {
    StepPlan few = plan(model(64, 100_000, 400_000, 5_000), PlanLink.named("10g"), JOBS);
    StepPlan many = plan(model(64, 100_000, 400_000, 10), PlanLink.named("10g"), JOBS);
    assertThat(few.largest().servers()).isLessThan(many.largest().servers());
    assertThat(many.largest().servers()).isLessThanOrEqualTo(16);
  }

  @Test
  void aSingleRankHasNothingToExchange() {
    StepPlan plan =
        plan(model(10, 5_000_000, 400, 100), PlanLink.named("1g"), List.of(new PlanRanks(1, 1, 1)));
    assertThat(plan.choice()).isEqualTo(Choice.ALLREDUCE);
    assertThat(new PlanReport(plan, 1, 1, 1, Optional.empty()).reason()).contains("one rank");
  }
}
