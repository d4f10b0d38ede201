// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.text.Characters;
import org.junit.jupiter.api.Test;

class GptSampleTest {

  private static final int CONTEXT = 4;

  /// Returns scores by which each character is followed by the next of "abc\n" for certain.
  private static float[] counting(byte[] text) {
    float[] scores = new float[CONTEXT * Characters.COUNT];
    for (int i = 0; i < CONTEXT; i++) {
      int next = text[i] == '\n' ? 'a' : text[i] == 'c' ? '\n' : text[i] + 1;
      scores[i * Characters.COUNT + next] = 1000;
    }
    return scores;
  }

  @Test
  void aLineEndsAtItsTerminator() {
    assertThat(new GptSample(CONTEXT, GptSampleTest::counting).line(1)).isEqualTo("abc");
  }

  @Test
  void aLineIsLongerThanTheContextAndBounded() {
    String line = new GptSample(CONTEXT, text -> always('x')).line(1);
    assertThat(line).isEqualTo("x".repeat(80));
  }

  @Test
  void aLineIsNotEmpty() {
    assertThat(new GptSample(CONTEXT, text -> always('\n')).line(1)).hasSize(1);
  }

  private static float[] always(char character) {
    float[] scores = new float[CONTEXT * Characters.COUNT];
    for (int i = 0; i < CONTEXT; i++) {
      scores[i * Characters.COUNT + character] = 1000;
    }
    return scores;
  }
}
