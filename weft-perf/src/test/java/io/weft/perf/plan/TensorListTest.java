// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.perf.gradients.GradientModel.ModelVariable;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TensorListTest {

  @Test
  void linesAreVariablesInTheirOrder() {
    List<ModelVariable> variables =
        TensorList.parse("# net\nconv1 5x5x1x32 784\n\n  dense1\t784x200  \n", "net.txt", 10);
    assertThat(variables.stream().map(ModelVariable::name)).containsExactly("conv1", "dense1");
    assertThat(variables.stream().map(ModelVariable::elements)).containsExactly(800L, 156_800L);
    double uses = variables.getFirst().work() - variables.getLast().work();
    assertThat(uses).isEqualTo(10.0 * (800 * 784 - 156_800));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dense1",
        "dense1 784 x 200",
        "dense1 -784",
        "dense1 0x4",
        "dense1 4x",
        "dense1 999999999999x999999999999",
        "dense1 4 3 2",
        "dense1 NaN"
      })
  void aMalformedLineIsNamed(String line) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TensorList.parse("a 4\n" + line, "net.txt", 1))
        .withMessageContaining("--tensors: net.txt line 2: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n\n", "# only a comment"})
  void anEmptyListIsRefusedWithTheFormat(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TensorList.parse(text, "net.txt", 1))
        .withMessageContaining("net.txt has 0 tensors")
        .withMessageContaining("NAME SHAPE");
  }
}
