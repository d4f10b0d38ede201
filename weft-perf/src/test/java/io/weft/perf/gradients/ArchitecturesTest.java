// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.perf.gradients.GradientModel.ModelGradient;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks that the replayed networks have the numbers of variables and parameters of the published
/// ones.
class ArchitecturesTest {

  /// The published numbers of trained parameters are 44.5, 138.4 and 23.8 million, with the scales
  /// and offsets of normalizations that the networks have, and 65 million for the transformer.
  @ParameterizedTest
  @CsvSource({
    "resnet101, 314, 44549160",
    "vgg16, 32, 138357544",
    "inception-v3, 190, 23817352",
    "transformer-base, 181, 63045632"
  })
  void parametersAreThoseOfThePublishedNetwork(String name, int tensors, long parameters) {
    GradientModel model = Architectures.named(name);
    assertThat(model.elements()).isEqualTo(parameters);
    assertThat(model.gradients()).hasSize(tensors);
    assertThat(model.gradients().stream().map(ModelGradient::name)).doesNotHaveDuplicates();
  }

  @Test
  void gradientsAreReadyFromTheLastLayerToTheFirst() {
    GradientModel model = Architectures.named("vgg16");
    assertThat(model.gradients().getFirst().name()).isEqualTo("fc8/bias");
    assertThat(model.gradients().getLast().name()).isEqualTo("conv1_1/kernel");
    List<Double> ready = model.gradients().stream().map(ModelGradient::ready).toList();
    assertThat(ready).isSorted().allMatch(part -> part > 0 && part <= 1);
    assertThat(ready.getLast()).isEqualTo(1.0);
    // The dense layers have nearly all of the bytes and hardly any of the time.
    assertThat(ready.get(5)).isLessThan(0.02);
  }

  @Test
  void anUnknownModelIsRefusedWithTheKnownOnes() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Architectures.named("alexnet"))
        .withMessageContaining("resnet101, inception-v3, vgg16, transformer-base, uniform");
  }

  @Test
  void aPlanIsParsedFromItsWords() {
    var plan =
        new GradientsPlan(
            "uniform",
            200,
            4096,
            Duration.ZERO,
            GradientsPlan.Purpose.COMPARE,
            List.of(true, false),
            20,
            5);
    assertThat(GradientsPlan.parse(plan.words())).isEqualTo(plan);
    assertThat(plan.recorded())
        .hasSize(2)
        .allSatisfy(
            one -> {
              assertThat(GradientsPlan.parse(one.words())).isEqualTo(one);
              assertThat(one.purpose()).isEqualTo(GradientsPlan.Purpose.RECORD);
            });
    assertThat(plan.gradients().bytes()).isEqualTo(200 * 4096);
  }
}
