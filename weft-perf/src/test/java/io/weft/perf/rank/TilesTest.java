// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class TilesTest {

  private static final int ELEMENTS = 2500;

  private final Arena arena = Arena.ofConfined();
  private final Tiles tiles = new Tiles(arena, 6);
  private final MemorySegment data = arena.allocate(ELEMENTS * 4L, 64);

  @AfterEach
  void free() {
    arena.close();
  }

  @Test
  void elementsFollowTheFormula() {
    tiles.fill(data, 3, 1000);
    for (int i = 0; i < ELEMENTS; i++) {
      float expected = 3f * ((i + 1000) % 1024 + 1);
      assertThat(data.getAtIndex(ValueLayout.JAVA_FLOAT, i))
          .as("element %d", i)
          .isEqualTo(expected);
    }
  }

  @Test
  void theSumOfTilesHasTheSumOfTheirScales() {
    MemorySegment other = arena.allocate(ELEMENTS * 4L, 64);
    tiles.fill(data, 1, 77);
    tiles.fill(other, 2, 77);
    for (int i = 0; i < ELEMENTS; i++) {
      float sum =
          data.getAtIndex(ValueLayout.JAVA_FLOAT, i) + other.getAtIndex(ValueLayout.JAVA_FLOAT, i);
      data.setAtIndex(ValueLayout.JAVA_FLOAT, i, sum);
    }
    assertThat(tiles.same(data, 0, data.byteSize(), 3, 77)).isTrue();
  }

  @Test
  void aStaleResultIsWrong() {
    tiles.fill(data, 3, 7);
    assertThat(tiles.same(data, 0, data.byteSize(), 3, 7)).isTrue();
    assertThat(tiles.same(data, 0, data.byteSize(), 3, 8)).isFalse();
    assertThat(tiles.same(data, 0, data.byteSize(), 2, 7)).isFalse();
  }

  @Test
  void arraysOfJavasHeapAreComparedToo() {
    float[] array = new float[ELEMENTS];
    MemorySegment heap = MemorySegment.ofArray(array);
    tiles.fill(heap, 3, 7);
    assertThat(tiles.same(heap, 0, heap.byteSize(), 3, 7)).isTrue();
    array[ELEMENTS - 1]++;
    assertThat(tiles.same(heap, 0, heap.byteSize(), 3, 7)).isFalse();
  }

  @Test
  void everyElementIsCompared() {
    tiles.fill(data, 3, 7);
    for (int i : new int[] {0, 1, 1023, 1024, 2047, 2048, ELEMENTS - 1}) {
      float right = data.getAtIndex(ValueLayout.JAVA_FLOAT, i);
      data.setAtIndex(ValueLayout.JAVA_FLOAT, i, Math.nextUp(right));
      assertThat(tiles.same(data, 0, data.byteSize(), 3, 7)).as("element %d", i).isFalse();
      data.setAtIndex(ValueLayout.JAVA_FLOAT, i, right);
    }
  }

  @Test
  void aShareIsComparedFromItsOffset() {
    tiles.fill(data, 2, 5);
    assertThat(tiles.same(data, 1100 * 4L, 1200 * 4L, 2, 1105)).isTrue();
    assertThat(tiles.same(data, 1100 * 4L, 1200 * 4L, 2, 5)).isFalse();
  }
}
