// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.property.Property;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks each rule against its definition in doubles, value by value.
class UpdateRulesTest {

  private static final int STEPS = 6;

  /// The definition of a rule for one row and its slots.
  private interface Model {
    /// @param v values of the row
    /// @param g its gradient
    void update(double[] v, double[] g, long step);
  }

  @FunctionalInterface
  private interface OfValue {
    double next(double v, double g, double[] slots, long step);
  }

  private static Model each(int width, double[] initial, OfValue rule) {
    double[][] slots = new double[width][];
    for (int i = 0; i < width; i++) {
      slots[i] = initial.clone();
    }
    return (v, g, step) -> {
      for (int i = 0; i < width; i++) {
        v[i] = rule.next(v[i], g[i], slots[i], step);
      }
    };
  }

  private static void agrees(String text, long seed, int rows, int width, Model[] models) {
    UpdateRule rule = UpdateRules.parse(text);
    var random = new Random(seed);
    int elements = rows * width;
    var tile = new UpdateTile(rule, elements);
    double[][] expected = new double[rows][width];
    for (int i = 0; i < elements; i++) {
      tile.values()[i] = random.nextFloat() - 0.5f;
      expected[i / width][i % width] = tile.values()[i];
    }
    for (int slot = 0; slot < rule.slots(); slot++) {
      Arrays.fill(tile.slot(slot), rule.initialSlot(slot));
    }
    for (int slot = 0; slot < rule.rowSlots(); slot++) {
      Arrays.fill(tile.rowSlot(slot), rule.initialSlot(rule.slots() + slot));
    }
    for (long step = 1; step <= STEPS; step++) {
      double[][] gradient = new double[rows][width];
      for (int i = 0; i < elements; i++) {
        float g = (random.nextFloat() - 0.5f) * (random.nextInt(4) == 0 ? 0 : 2);
        tile.gradient()[i] = g;
        gradient[i / width][i % width] = g;
      }
      rule.apply(tile, rows, width, rule.rate(step));
      for (int row = 0; row < rows; row++) {
        models[row].update(expected[row], gradient[row], step);
        for (int i = 0; i < width; i++) {
          double value = expected[row][i];
          assertThat((double) tile.values()[row * width + i])
              .as("%s: row %d, column %d, step %d, seed %d", text, row, i, step, seed)
              .isCloseTo(value, within(2e-5 * Math.max(1, Math.abs(value))));
        }
      }
    }
  }

  private static void each(String text, long seed, int rows, int width, OfValue rule, double... s) {
    Model[] models = new Model[rows];
    for (int row = 0; row < rows; row++) {
      models[row] = each(width, s, rule);
    }
    agrees(text, seed, rows, width, models);
  }

  @Test
  void sumAndAssign() {
    Property.check(50, draw -> sumAndAssign(draw.seed(), draw.between(1, 70)));
  }

  private void sumAndAssign(long seed, int width) {
    each("sum", seed, 3, width, (v, g, s, step) -> v + g);
    each("assign", seed, 3, width, (v, g, s, step) -> g);
  }

  @Test
  void sgd() {
    Property.check(50, draw -> sgd(draw.seed(), draw.between(1, 70)));
  }

  private void sgd(long seed, int width) {
    each("sgd:lr=0.25", seed, 3, width, (v, g, s, step) -> v - 0.25 * g);
  }

  @Test
  void momentum() {
    Property.check(50, draw -> momentum(draw.seed(), draw.between(1, 70)));
  }

  private void momentum(long seed, int width) {
    each(
        "momentum:lr=0.1,momentum=0.8",
        seed,
        2,
        width,
        (v, g, s, step) -> {
          s[0] = 0.8 * s[0] + g;
          return v - 0.1 * s[0];
        },
        0);
    each(
        "momentum:lr=0.1,momentum=0.8,nesterov=true",
        seed,
        2,
        width,
        (v, g, s, step) -> {
          s[0] = 0.8 * s[0] + g;
          return v - 0.1 * g - 0.1 * 0.8 * s[0];
        },
        0);
  }

  @Test
  void gradientsAreClippedAndValuesDecay() {
    Property.check(50, draw -> clippedAndDecaying(draw.seed(), draw.between(1, 70)));
  }

  private void clippedAndDecaying(long seed, int width) {
    each(
        "sgd:lr=0.25,decay=0.5,clip=0.125",
        seed,
        3,
        width,
        (v, g, s, step) -> v * (1 - 0.25 * 0.5) - 0.25 * Math.clamp(g, -0.125, 0.125));
    each(
        "momentum:lr=0.1,momentum=0.8,decay=0.25,clip=0.25",
        seed,
        2,
        width,
        (v, g, s, step) -> {
          s[0] = 0.8 * s[0] + Math.clamp(g, -0.25, 0.25);
          return v * (1 - 0.1 * 0.25) - 0.1 * s[0];
        },
        0);
    each(
        "adagrad:lr=0.1,init=0.2,eps=0.01,clip=0.25",
        seed,
        2,
        width,
        (v, g, s, step) -> {
          double clipped = Math.clamp(g, -0.25, 0.25);
          s[0] += clipped * clipped;
          return v - 0.1 * clipped / (Math.sqrt(s[0]) + 0.01);
        },
        0.2f);
  }

  @Test
  void adamwDecaysTheValueApartFromTheGradient() {
    Property.check(50, draw -> adamw(draw.seed(), draw.between(1, 70)));
  }

  private void adamw(long seed, int width) {
    each(
        "adamw:lr=0.1,beta1=0.8,beta2=0.9,eps=0.01,decay=0.2",
        seed,
        2,
        width,
        (v, g, s, step) -> {
          s[0] += (g - s[0]) * (1 - 0.8);
          s[1] += (g * g - s[1]) * (1 - 0.9);
          double rate = 0.1 * Math.sqrt(1 - Math.pow(0.9, step)) / (1 - Math.pow(0.8, step));
          return v * (1 - 0.1 * 0.2) - rate * s[0] / (Math.sqrt(s[1]) + 0.01);
        },
        0,
        0);
  }

  @Test
  void adamwWithoutDecayHasTheBitsOfAdam() {
    UpdateRule plain = UpdateRules.parse("adam:lr=0.1");
    UpdateRule decaying = UpdateRules.parse("adamw:lr=0.1,decay=0");
    var one = new UpdateTile(plain, 9);
    var other = new UpdateTile(decaying, 9);
    var random = new Random(5);
    for (int step = 1; step < 20; step++) {
      for (int i = 0; i < 9; i++) {
        one.gradient()[i] = random.nextFloat() - 0.5f;
        other.gradient()[i] = one.gradient()[i];
      }
      plain.apply(one, 3, 3, plain.rate(step));
      decaying.apply(other, 3, 3, decaying.rate(step));
      assertThat(other.values()).isEqualTo(one.values());
    }
  }

  @Test
  void adagrad() {
    Property.check(50, draw -> adagrad(draw.seed(), draw.between(1, 70)));
  }

  private void adagrad(long seed, int width) {
    each(
        "adagrad:lr=0.1,init=0.2,eps=0.01",
        seed,
        2,
        width,
        (v, g, s, step) -> {
          s[0] += g * g;
          return v - 0.1 * g / (Math.sqrt(s[0]) + 0.01);
        },
        0.2f);
  }

  @Test
  void rowwiseAdagrad() {
    Property.check(50, draw -> rowwiseAdagrad(draw.seed(), draw.between(1, 70)));
  }

  private void rowwiseAdagrad(long seed, int width) {
    Model[] models = new Model[3];
    for (int row = 0; row < models.length; row++) {
      double[] sum = {0.2f};
      models[row] =
          (v, g, step) -> {
            double squares = 0;
            for (double one : g) {
              squares += one * one;
            }
            sum[0] += squares / g.length;
            for (int i = 0; i < v.length; i++) {
              v[i] -= 0.1 * g[i] / (Math.sqrt(sum[0]) + 0.01);
            }
          };
    }
    agrees("rowwise-adagrad:lr=0.1,init=0.2,eps=0.01", seed, 3, width, models);
  }

  @Test
  void adam() {
    Property.check(50, draw -> adam(draw.seed(), draw.between(1, 70)));
  }

  private void adam(long seed, int width) {
    each(
        "adam:lr=0.01,beta1=0.8,beta2=0.99,eps=0.001",
        seed,
        2,
        width,
        (v, g, s, step) -> {
          s[0] = 0.8 * s[0] + 0.2 * g;
          s[1] = 0.99 * s[1] + 0.01 * g * g;
          double rate = 0.01 * Math.sqrt(1 - Math.pow(0.99, step)) / (1 - Math.pow(0.8, step));
          return v - rate * s[0] / (Math.sqrt(s[1]) + 0.001);
        },
        0,
        0);
  }

  @Test
  void ftrl() {
    Property.check(50, draw -> ftrl(draw.seed(), draw.between(1, 70)));
  }

  private void ftrl(long seed, int width) {
    double l1 = 0.05f;
    each(
        "ftrl:lr=0.5,init=0.1,l1=0.05,l2=0.25",
        seed,
        2,
        width,
        (v, g, s, step) -> {
          double sum = s[0] + g * g;
          s[1] += g - (Math.sqrt(sum) - Math.sqrt(s[0])) / 0.5 * v;
          s[0] = sum;
          double quadratic = Math.sqrt(sum) / 0.5 + 2 * 0.25;
          return Math.abs(s[1]) <= l1 ? 0 : (Math.signum(s[1]) * l1 - s[1]) / quadratic;
        },
        0.1f,
        0);
  }

  @Test
  void unusedRowsOfATileAreUnchanged() {
    UpdateRule rule = UpdateRules.parse("adam");
    var tile = new UpdateTile(rule, 12);
    Arrays.fill(tile.gradient(), 1);
    rule.apply(tile, 2, 4, rule.rate(1));
    for (int i = 0; i < 12; i++) {
      assertThat(tile.values()[i] != 0).as("value %d changed", i).isEqualTo(i < 8);
      assertThat(tile.slot(1)[i] != 0).as("slot of value %d changed", i).isEqualTo(i < 8);
    }
  }

  @Test
  void adamCountsStepsFromOne() {
    UpdateRule rule = UpdateRules.parse("adam");
    assertThatThrownBy(() -> rule.rate(0)).hasMessageContaining("step 0");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          adamv               | there are sum, assign, sgd
          adagrad:rate=1      | 'adagrad' has lr (default 0.001), init (default 0.1), eps
          sum:lr=1            | 'sum' has none
          sgd:lr=x            | 'lr' is 'x', which is not a number
          sgd:lr=-1           | 'lr' is -1, but must be at least 0.0
          sgd:lr=NaN          | 'lr' is NaN
          sgd:lr              | 'lr' is not of the form parameter=value
          sgd:lr=1,lr=2       | 'lr' is given twice
          adam:beta1=1        | 'beta1' is 1.0, but must be less than 1
          ftrl:lr=0           | 'lr' is 0, but must be more
          momentum:nesterov=1 | 'nesterov' is '1', not true or false
          """)
  void aWrongTextIsRefusedNamingTheAllowedTexts(String text, String message) {
    assertThatThrownBy(() -> UpdateRules.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("update rule '" + text + "'")
        .hasMessageContaining(message);
  }
}
