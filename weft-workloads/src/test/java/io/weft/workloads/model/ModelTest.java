// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensorflow.WeightsDigest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.Session;

class ModelTest {

  @ParameterizedTest
  @CsvSource({
    "MNIST_DNN,178110,6",
    "MNIST_CNN,3274634,8",
    "CIFAR10_DNN,635710,6",
    "CIFAR10_CNN,4259274,8",
    "ADULT_DNN,45102,6",
    "ACOUSTIC_DNN,30603,6",
    "HIGGS_DNN,31746,4",
    "ALEXNET,50303912,16"
  })
  void theNetworksHaveTheSizesOfThePaper(Workload workload, long parameters, int tensors) {
    try (Model model = Model.of(workload, workload.features(), 1, 1f)) {
      assertThat(model.parameters()).isEqualTo(parameters);
      assertThat(model.variables()).hasSize(tensors);
    }
  }

  @Test
  void layersHaveTheShapesOfThePaper() {
    try (Model model = Model.of(Workload.ADULT_DNN, 123, 1, 1f)) {
      assertThat(model.variables().stream().map(v -> v.asOutput().shape().toString()).toList())
          .isEqualTo(List.of("[123, 200]", "[200]", "[200, 100]", "[100]", "[100, 2]", "[2]"));
    }
  }

  @Test
  void initialWeightsDependOnTheSeedAlone() {
    String first = initial(5);
    assertThat(initial(5)).isEqualTo(first);
    assertThat(initial(6)).isNotEqualTo(first);
  }

  private static String initial(long seed) {
    try (Model model = Model.of(Workload.MNIST_DNN, 784, seed, 1f);
        var session = new Session(model.graph())) {
      session.initialize();
      return WeightsDigest.of(session, model.variables());
    }
  }
}
