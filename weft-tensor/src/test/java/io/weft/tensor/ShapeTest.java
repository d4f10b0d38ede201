// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShapeTest {

  @Test
  void aScalarHasOneElement() {
    assertThat(Shape.of().elements()).isEqualTo(1);
    assertThat(Shape.of()).hasToString("[]");
  }

  @Test
  void elementsAreTheProductOfTheExtents() {
    assertThat(Shape.of(2, 3, 4).elements()).isEqualTo(24);
    assertThat(Shape.of(2, 0, 4).elements()).isZero();
  }

  @Test
  void negativeExtentIsRefused() {
    assertThatThrownBy(() -> Shape.of(2, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("extent -1 in shape [2, -1] is negative");
  }

  @Test
  void productBeyondLongIsRefused() {
    assertThatThrownBy(() -> Shape.of(1L << 32, 1L << 31))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("2^63-1");
  }

  @Test
  void laterChangesOfTheListDoNotAffectTheShape() {
    List<Long> dims = new ArrayList<>(List.of(2L, 3L));
    Shape shape = new Shape(dims);
    dims.set(0, 9L);
    assertThat(shape).isEqualTo(Shape.of(2, 3));
  }

  @Test
  void rowsAreCountedByTheFirstExtent() {
    assertThat(Shape.of(5, 3, 4).elementsPerRow()).isEqualTo(12);
    assertThat(Shape.of(0, 3, 4).elementsPerRow()).isEqualTo(12);
    assertThat(Shape.of(5, 3).withFirst(7)).isEqualTo(Shape.of(7, 3));
  }

  @Test
  void aScalarHasNoRows() {
    assertThatThrownBy(() -> Shape.of().elementsPerRow())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a scalar has no first extent");
  }
}
