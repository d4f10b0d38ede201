// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.perf.gradients.GradientModel;
import io.weft.perf.gradients.GradientModel.ModelGradient;
import io.weft.workloads.model.Workload;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class WorkloadVariablesTest {

  private static GradientModel model(Workload workload, int batch) {
    return GradientModel.of(
        workload.title(), WorkloadVariables.of(workload, batch), Duration.ofMillis(100));
  }

  private static ModelGradient gradient(GradientModel model, String name) {
    return model.gradients().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /// The dense layers have nearly all weights; the convolutions have most of the work.
  @Test
  void theConvolutionsOfAlexnetComputeAfterItsDenseLayers() {
    GradientModel model = model(Workload.ALEXNET, 24);
    assertThat(model.gradients()).hasSize(16);
    assertThat(model.elements()).isBetween(50_000_000L, 51_000_000L);
    assertThat(model.servedBytes()).isEqualTo(model.bytes());
    assertThat(gradient(model, "dense6_weights").ready()).isBetween(0.05, 0.15);
    assertThat(gradient(model, "conv1_weights").ready()).isEqualTo(1);
  }

  /// A batch of 128 uses at most 128 of the 500 rows of each table.
  @Test
  void aStepOfWideDeepUsesSomeRowsOfItsTables() {
    GradientModel model = model(Workload.WIDE_DEEP, 128);
    assertThat(model.gradients()).hasSize(406);
    ModelGradient deep = gradient(model, "deep0_table");
    assertThat(deep.bytes()).isEqualTo(500 * 8 * 4);
    assertThat(deep.servedBytes()).isEqualTo(128 * (8 * 4 + 8));
    assertThat(gradient(model, "dense1_weights").servedBytes()).isEqualTo(1600 * 128 * 4);
  }
}
