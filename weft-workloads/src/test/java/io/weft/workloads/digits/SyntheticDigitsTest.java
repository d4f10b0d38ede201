// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.digits;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.data.Examples;
import java.util.Arrays;
import java.util.HashSet;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class SyntheticDigitsTest {

  @Test
  void theSameSeedDrawsTheSameBytes() {
    var digits = new SyntheticDigits(3, 200, 50);
    assertThat(digits.train()).isEqualTo(new SyntheticDigits(3, 200, 50).train());
    assertThat(digits.train()).isNotEqualTo(new SyntheticDigits(4, 200, 50).train());
  }

  /// A failure means that every result on embedded data changes: intentionally, or because this
  /// machine computes differently.
  @Test
  void theBytesAreThoseOfThisVersion() {
    assertThat(Arrays.hashCode(new SyntheticDigits(1, 20, 1).train().values()))
        .isEqualTo(492355582);
  }

  @Test
  void anImageDoesNotDependOnTheCountOfImages() {
    Examples few = new SyntheticDigits(3, 10, 1).train();
    Examples many = new SyntheticDigits(3, 100, 1).train();
    assertThat(Arrays.copyOf(many.values(), few.values().length)).isEqualTo(few.values());
  }

  @Test
  void noTestImageIsATrainingImage() {
    var digits = new SyntheticDigits(3, 500, 500);
    var seen = new HashSet<Integer>();
    for (Examples part : new Examples[] {digits.train(), digits.test()}) {
      for (int i = 0; i < part.count(); i++) {
        seen.add(Arrays.hashCode(Arrays.copyOfRange(part.values(), i * 784, (i + 1) * 784)));
      }
    }
    assertThat(seen).hasSizeGreaterThan(995);
  }

  @Test
  void everyDigitIsDrawnAndHasInk() {
    Examples digits = new SyntheticDigits(7, 500, 1).train();
    int[] count = new int[10];
    for (int i = 0; i < digits.count(); i++) {
      count[digits.labels()[i]]++;
      int ink = 0;
      for (int p = 0; p < 784; p++) {
        ink += (digits.values()[i * 784 + p] & 0xff) > 100 ? 1 : 0;
      }
      assertThat(ink).as("bright pixels of image %d", i).isBetween(10, 500);
    }
    assertThat(count).doesNotContain(0);
  }

  @Test
  void glyphsOfAllFontsStayInTheirBox() {
    var fonts = new Fonts();
    for (int font = 0; font < fonts.count(); font++) {
      for (int digit = 0; digit < 10; digit++) {
        int[] lines = {0};
        fonts
            .glyph(font, digit)
            .draw(
                c -> c,
                (x1, y1, x2, y2) -> {
                  lines[0]++;
                  assertThat(DoubleStream.of(x1, y1, x2, y2)).allMatch(c -> c >= 0 && c <= 100);
                });
        assertThat(lines[0]).isPositive();
      }
    }
  }
}
