// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.framework.optimizers.AdaGradDA;
import org.tensorflow.framework.optimizers.Adam;
import org.tensorflow.framework.optimizers.Adamax;
import org.tensorflow.framework.optimizers.Momentum;
import org.tensorflow.framework.optimizers.Nadam;
import org.tensorflow.framework.optimizers.Optimizer;

class UpdateOrderTest {

  enum Stateful {
    ADAM(2),
    ADAMAX(1),
    NADAM(2),
    ADAGRAD_DA(2);

    private final int states;

    Stateful(int states) {
      this.states = states;
    }

    Optimizer on(Graph graph) {
      return switch (this) {
        case ADAM -> new Adam(graph);
        case ADAMAX -> new Adamax(graph);
        case NADAM -> new Nadam(graph);
        case ADAGRAD_DA -> new AdaGradDA(graph);
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void stateChangesAfterAllWeightsWereUpdated(Stateful optimizer) {
    try (InMemoryRanks alone = new InMemoryRanks(1);
        Mlp model = new Mlp(1, alone.of(0), optimizer::on)) {
      Set<GraphOperation> parts = model.graph.operationOrThrow(model.trainName()).controlInputs();
      Set<GraphOperation> states =
          parts.stream().filter(part -> part.name().endsWith("_last")).collect(Collectors.toSet());
      Set<GraphOperation> updates =
          parts.stream().filter(part -> !states.contains(part)).collect(Collectors.toSet());
      assertThat(states)
          .hasSize(optimizer.states)
          .allSatisfy(state -> assertThat(state.controlInputs()).isEqualTo(updates));
      assertThat(updates).hasSize(model.variables.size());
    }
  }

  @Test
  void stepWithoutSharedStateIsUnchanged() {
    try (InMemoryRanks alone = new InMemoryRanks(1);
        Mlp model = new Mlp(1, alone.of(0), graph -> new Momentum(graph, 0.1f, 0.9f))) {
      assertThat(model.trainName()).isEqualTo("Momentum-minimize");
    }
  }
}
