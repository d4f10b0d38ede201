// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.djl;

import io.weft.workloads.text.Characters;
import java.util.SplittableRandom;

/// A line of text that a language model writes.
///
/// @param context the characters that the model sees
/// @param model returns the scores of all characters that may follow each character
record GptSample(int context, Model model) {

  private static final int MOST = 80;
  private static final double TEMPERATURE = 0.7;

  /// A model of one row.
  interface Model {

    /// Returns the scores of shape context by characters.
    float[] scores(byte[] text);
  }

  /// Draws characters one by one, up to the end of a line and at most 80. The line is not empty.
  ///
  /// @param seed of the choices
  String line(long seed) {
    var random = new SplittableRandom(seed);
    byte[] text = new byte[context];
    text[0] = '\n';
    int seen = 1;
    var line = new StringBuilder();
    while (line.length() < MOST) {
      char next = Characters.character(drawn(model.scores(text), seen - 1, line, random));
      if (next == '\n') {
        break;
      }
      line.append(next);
      if (seen == context) {
        System.arraycopy(text, 1, text, 0, context - 1);
        seen--;
      }
      text[seen++] = Characters.classes(String.valueOf(next))[0];
    }
    return line.toString();
  }

  /// Draws a character by the softmax of its scores. The first is no control character or space.
  private static int drawn(
      float[] scores, int position, CharSequence line, SplittableRandom random) {
    int first = position * Characters.COUNT;
    int least = line.isEmpty() ? ' ' + 1 : 0;
    double most = Double.NEGATIVE_INFINITY;
    for (int c = least; c < Characters.COUNT; c++) {
      most = Math.max(most, scores[first + c]);
    }
    double[] weights = new double[Characters.COUNT];
    double sum = 0;
    for (int c = least; c < Characters.COUNT; c++) {
      weights[c] = Math.exp((scores[first + c] - most) / TEMPERATURE);
      sum += weights[c];
    }
    double at = random.nextDouble() * sum;
    int chosen = Characters.COUNT - 1;
    for (int c = Characters.COUNT - 1; c >= least; c--) {
      at -= weights[c];
      chosen = c;
      if (at <= 0) {
        break;
      }
    }
    return chosen;
  }
}
