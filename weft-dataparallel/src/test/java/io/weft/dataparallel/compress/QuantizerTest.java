// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantizerTest {

  /// The definition, element by element, in plain arithmetic.
  static float[] model(int bits, float[] values, float[] residual) {
    int largest = bits == 8 ? 127 : 7;
    float[] read = new float[values.length];
    for (int first = 0; first < values.length; first += Quantizer.BLOCK) {
      int end = Math.min(values.length, first + Quantizer.BLOCK);
      float most = 0;
      for (int i = first; i < end; i++) {
        most = Math.max(most, Math.abs(values[i] + residual[i]));
      }
      float scale = most < 0x1p-100f ? 0 : most / largest;
      for (int i = first; i < end; i++) {
        float sum = values[i] + residual[i];
        float number = scale == 0 ? 0 : (float) Math.rint(sum * (1 / scale)) + 0f; // no -0
        read[i] = number * scale;
        residual[i] = sum - read[i];
      }
    }
    return read;
  }

  @Property(tries = 200)
  void isTheModelStepByStepAndKeepsResidualsSmall(
      @ForAll boolean wide,
      @ForAll @IntRange(min = 1, max = 3000) int elements,
      @ForAll @IntRange(min = -60, max = 60) int exponent,
      @ForAll long seed) {
    var quantizer = new Quantizer(wide ? 8 : 4);
    var random = new Random(seed);
    float most = (float) Math.scalb(1.0, exponent);
    float[] kept = new float[elements];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment residual = arena.allocate(elements * 4L, 4);
      MemorySegment left = arena.allocate(elements * 4L, 4);
      MemorySegment wire = arena.allocate(3 + quantizer.bytes(elements));
      MemorySegment read = arena.allocate(elements * 4L, 4);
      for (int step = 0; step < 5; step++) {
        float[] values = new float[elements];
        for (int i = 0; i < elements; i++) {
          values[i] = (random.nextFloat() * 2 - 1) * most;
        }
        float[] expected = model(quantizer.bits(), values, kept);
        MemorySegment given = arena.allocateFrom(JAVA_FLOAT, values);
        assertThat(quantizer.quantize(given, residual, left, elements, wire, 3)).isEqualTo(-1);
        quantizer.dequantize(wire, 3, read, 0, elements, Quantizer.Into.COPY);
        assertThat(read.toArray(JAVA_FLOAT)).isEqualTo(expected);
        assertThat(left.toArray(JAVA_FLOAT)).isEqualTo(kept);
        float bound = most / (quantizer.bits() == 8 ? 250 : 12.9f);
        for (float rest : kept) {
          assertThat(Math.abs(rest)).isLessThanOrEqualTo(bound);
        }
        quantizer.dequantize(wire, 3, read, 0, elements, Quantizer.Into.SUM);
        assertThat(read.getAtIndex(JAVA_FLOAT, elements - 1L))
            .isEqualTo(2 * expected[elements - 1]);
        residual.copyFrom(left);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"8, 1028", "4, 516"})
  void aBlockTakesAQuarterOrAnEighthAndItsScale(int bits, int bytes) {
    assertThat(new Quantizer(bits).bytes(Quantizer.BLOCK)).isEqualTo(bytes);
    assertThat(new Quantizer(bits).bytes(0)).isZero();
    assertThat(new Quantizer(bits).bytes(Quantizer.BLOCK + 3L))
        .isEqualTo(bytes + 4L + (bits == 8 ? 3 : 2));
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
  void whatIsNoNumberIsFound(float wrong) {
    float[] values = new float[2500];
    values[2049] = wrong;
    values[2300] = Float.NaN;
    assertThat(place(values, new float[2500])).isEqualTo(2049);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 4})
  void theLargestNumbersStayFinite(int bits) {
    float[] values = {Float.MAX_VALUE, -Float.MAX_VALUE, 1, 0x1p-140f};
    float[] kept = new float[4];
    var quantizer = new Quantizer(bits);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment left = arena.allocate(16, 4);
      MemorySegment wire = arena.allocate(quantizer.bytes(4));
      assertThat(
              quantizer.quantize(
                  arena.allocateFrom(JAVA_FLOAT, values),
                  arena.allocateFrom(JAVA_FLOAT, kept),
                  left,
                  4,
                  wire,
                  0))
          .isEqualTo(-1);
      for (float rest : left.toArray(JAVA_FLOAT)) {
        assertThat(rest).isFinite();
      }
    }
    assertThat(place(new float[] {Float.MAX_VALUE}, new float[] {Float.MAX_VALUE})).isZero();
  }

  private static long place(float[] values, float[] residual) {
    try (Arena arena = Arena.ofConfined()) {
      var quantizer = new Quantizer(8);
      return quantizer.quantize(
          arena.allocateFrom(JAVA_FLOAT, values),
          arena.allocateFrom(JAVA_FLOAT, residual),
          arena.allocate(values.length * 4L, 4),
          values.length,
          arena.allocate(quantizer.bytes(values.length)),
          0);
    }
  }

  @Property(tries = 100)
  void slicesCoverTheTensorAtBoundsOfBlocks(
      @ForAll @IntRange(max = 20_000) int elements, @ForAll @IntRange(min = 1, max = 9) int ranks) {
    var slices = new Slices(elements, ranks);
    long next = 0;
    for (int rank = 0; rank < ranks; rank++) {
      assertThat(slices.first(rank)).isEqualTo(next);
      assertThat(next % Quantizer.BLOCK == 0 || next == elements).isTrue();
      next += slices.count(rank);
    }
    assertThat(next).isEqualTo(elements);
  }
}
