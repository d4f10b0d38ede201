// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.GradientExchange;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GradientFlagsTest {

  private static final TrainingSettings PLAIN =
      new TrainingSettings(
          Workload.MNIST_DNN,
          1,
          50,
          0.05f,
          OptimizerKind.MOMENTUM,
          7,
          new Sync.Gradients(),
          ReadMode.SHARDED,
          Optional.empty());

  @Test
  void theMessageNamesTheEffectOfHorovodsVariable() {
    TrainingSettings tuned = PLAIN.with(new GradientExchange.Tuned(Optional.empty()));
    assertThat(GradientFlags.variable(tuned, Map.of("HOROVOD_AUTOTUNE", "1")))
        .contains("HOROVOD_AUTOTUNE=1 is understood as --autotune");
    assertThat(GradientFlags.variable(PLAIN, Map.of("HOROVOD_AUTOTUNE", "0")))
        .contains(
            "HOROVOD_AUTOTUNE=0 changes nothing: 1 would mean --autotune, where the command line"
                + " requests no other exchange");
    assertThat(GradientFlags.variable(PLAIN, Map.of())).isEmpty();
  }
}
