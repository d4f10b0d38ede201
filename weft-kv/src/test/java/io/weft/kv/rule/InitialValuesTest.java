// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InitialValuesTest {

  private static final int WIDTH = 50;
  private static final int KEYS = 2000;

  // These values were computed by a program in another language.
  private static final float[] UNIFORM = {0.45564657f, 0.65726477f};
  private static final float[] NORMAL = {0.8759128f, -0.1953313f};

  private static float[] row(InitialValues values, long seed, long key) {
    float[] row = new float[WIDTH];
    values.fill(seed, key, row, 0, WIDTH);
    return row;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          zero                      |  0   | 0
          constant:value=0.5        |  0.5 | 0
          uniform:low=-0.5,high=1.5 |  0.5 | 0.57735
          normal:mean=1,stddev=0.25 |  1   | 0.25
          xavier                    |  0   | 0.141421
          xavier:in=1,out=5         |  0   | 0.57735
          """)
  void valuesHaveTheMeanAndDeviationOfTheirText(String text, double mean, double deviation) {
    InitialValues values = InitialValues.parse(text, WIDTH);
    long seed = InitialValues.seed(7, "t");
    double sum = 0;
    double squares = 0;
    for (long key = -KEYS / 2; key < KEYS / 2; key++) {
      for (float value : row(values, seed, key)) {
        sum += value;
        squares += (value - mean) * (value - mean);
      }
    }
    int n = KEYS * WIDTH;
    double error = 6 * deviation / Math.sqrt(n);
    assertThat(sum / n).isCloseTo(mean, within(error + 1e-9));
    assertThat(Math.sqrt(squares / n)).isCloseTo(deviation, within(error + 1e-9));
  }

  @ParameterizedTest
  @ValueSource(strings = {"uniform", "normal", "xavier"})
  void valuesDependOnlyOnSeedTableKeyAndColumn(String text) {
    InitialValues values = InitialValues.parse(text, WIDTH);
    float[] one = row(values, InitialValues.seed(1, "users"), 42);
    assertThat(row(InitialValues.parse(text, WIDTH), InitialValues.seed(1, "users"), 42))
        .isEqualTo(one);
    assertThat(row(values, InitialValues.seed(2, "users"), 42)).isNotEqualTo(one);
    assertThat(row(values, InitialValues.seed(1, "items"), 42)).isNotEqualTo(one);
    assertThat(row(values, InitialValues.seed(1, "users"), 43)).isNotEqualTo(one);
    assertThat(one[0]).isNotEqualTo(one[1]);
    float[] within = new float[WIDTH + 9];
    values.fill(InitialValues.seed(1, "users"), 42, within, 5, WIDTH);
    assertThat(Arrays.copyOfRange(within, 5, 5 + WIDTH)).isEqualTo(one);
  }

  /// Rows that another version or another machine creates begin with the same bits.
  @Test
  void valuesHaveTheSameBitsInEveryVersion() {
    long seed = InitialValues.seed(1, "users");
    float[] values = new float[2];
    InitialValues.parse("uniform:low=0,high=1", 2).fill(seed, -1, values, 0, 2);
    assertThat(values).containsExactly(UNIFORM);
    InitialValues.parse("normal:stddev=1", 2).fill(seed, Long.MIN_VALUE, values, 0, 2);
    assertThat(values).containsExactly(NORMAL);
  }

  @Test
  void aWrongTextIsRefusedNamingTheAllowedTexts() {
    assertThatThrownBy(() -> InitialValues.parse("ones", 4))
        .hasMessageContaining("initial values 'ones'")
        .hasMessageContaining("zero, constant, uniform, normal, xavier");
    assertThatThrownBy(() -> InitialValues.parse("uniform:low=1,high=1", 4))
        .hasMessageContaining("must be less than high");
    assertThatThrownBy(() -> InitialValues.parse("normal:sd=1", 4))
        .hasMessageContaining("stddev (default 0.05)");
  }
}
