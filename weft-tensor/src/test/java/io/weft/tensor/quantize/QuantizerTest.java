// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.quantize;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.property.Property;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantizerTest {

  /// Quantizes element by element, by the definition, in plain arithmetic.
  private static float[] model(int bits, float[] values, float[] residual) {
    int largest = bits == 8 ? 127 : bits == 4 ? 7 : 1;
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

  @Test
  void quantizerMatchesTheModelAndKeepsResidualsSmall() {
    Property.check(
        200,
        draw ->
            quantizerMatchesTheModelAndKeepsResidualsSmall(
                draw.between(1, 3), draw.between(1, 3000), draw.between(-60, 60), draw.seed()));
  }

  private void quantizerMatchesTheModelAndKeepsResidualsSmall(
      int power, int elements, int exponent, long seed) {
    var quantizer = new Quantizer(1 << power);
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
        float bound = most / (quantizer.bits() == 8 ? 250 : quantizer.bits() == 4 ? 12.9f : 0.99f);
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
  @CsvSource({"8, 1028, 3", "4, 516, 2", "2, 260, 1"})
  void aBlockOccupiesItsBitsAndItsScale(int bits, int bytes, int three) {
    assertThat(new Quantizer(bits).bytes(Quantizer.BLOCK)).isEqualTo(bytes);
    assertThat(new Quantizer(bits).bytes(0)).isZero();
    assertThat(new Quantizer(bits).bytes(Quantizer.BLOCK + 3L)).isEqualTo(bytes + 4L + three);
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
  void theFirstNonFiniteValueIsFound(float wrong) {
    float[] values = new float[2500];
    values[2049] = wrong;
    values[2300] = Float.NaN;
    assertThat(place(values, new float[2500])).isEqualTo(2049);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 4, 2})
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

  /// Compares with MXNet's compression to 2 bits, element by element.
  @Test
  void aThresholdIsSentWhenItIsReachedAndTheRestIsKept() {
    Property.check(
        100,
        draw ->
            aThresholdIsSentWhenItIsReachedAndTheRestIsKept(draw.between(1, 3000), draw.seed()));
  }

  private void aThresholdIsSentWhenItIsReachedAndTheRestIsKept(int elements, long seed) {
    var random = new Random(seed);
    float threshold = 0.5f;
    var quantizer = new Quantizer(2, threshold);
    float[] kept = new float[elements];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment residual = arena.allocate(elements * 4L, 4);
      MemorySegment left = arena.allocate(elements * 4L, 4);
      MemorySegment wire = arena.allocate(quantizer.bytes(elements));
      MemorySegment read = arena.allocate(elements * 4L, 4);
      for (int step = 0; step < 5; step++) {
        float[] values = new float[elements];
        float[] expected = new float[elements];
        for (int i = 0; i < elements; i++) {
          values[i] = random.nextInt(4) == 0 ? 0 : random.nextFloat() * 2 - 1;
          float sum = values[i] + kept[i];
          expected[i] = sum >= threshold ? threshold : sum <= -threshold ? -threshold : 0;
          kept[i] = sum - expected[i];
        }
        MemorySegment given = arena.allocateFrom(JAVA_FLOAT, values);
        assertThat(quantizer.quantize(given, residual, left, elements, wire, 0)).isEqualTo(-1);
        new Quantizer(2).dequantize(wire, 0, read, 0, elements, Quantizer.Into.COPY);
        for (int i = 0; i < elements; i++) {
          assertThat(read.getAtIndex(JAVA_FLOAT, i)).isEqualTo(expected[i] + 0f);
          assertThat(left.getAtIndex(JAVA_FLOAT, i)).isEqualTo(kept[i]);
        }
        residual.copyFrom(left);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "16, 0", "8, 0.5", "2, -1", "2, NaN", "2, Infinity"})
  void invalidBitsOrThresholdsAreRefused(int bits, float threshold) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Quantizer(bits, threshold))
        .withMessageContaining("bits");
  }
}
