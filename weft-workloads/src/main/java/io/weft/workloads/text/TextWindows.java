// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.text;

import io.weft.workloads.data.Examples;

/// The windows of a text. A window has `context` characters, and its label is the character that
/// follows it. Windows to train on are in the first nine tenths of the text and begin every
/// `context / 4` characters. At most 512 windows to test with are in the last tenth, and do not
/// overlap.
///
/// @param text the classes of its characters
/// @param context the characters of a window
@SuppressWarnings("ArrayRecordComponent") // never compared
record TextWindows(byte[] text, int context) {

  private static final int MOST_TESTED = 512;
  private static final int TENTHS = 10;

  /// Returns the number of characters of the shortest text that has windows of both kinds.
  static int least(int context) {
    return TENTHS * (context + 1);
  }

  Examples train() {
    return windows(0, bound(), Math.max(1, context / 4));
  }

  Examples test() {
    int possible = (text.length - bound()) / (context + 1);
    int between = (text.length - bound()) / Math.clamp(possible, 1, MOST_TESTED);
    return windows(bound(), text.length, between);
  }

  private int bound() {
    return (int) (text.length * (TENTHS - 1L) / TENTHS);
  }

  /// Returns the windows that begin every `stride` characters, and end with their labels at `to` at
  /// the latest.
  private Examples windows(int from, int to, int stride) {
    int count = (to - from - context - 1) / stride + 1;
    byte[] values = new byte[Math.multiplyExact(count, context)];
    byte[] labels = new byte[count];
    for (int i = 0; i < count; i++) {
      int first = from + i * stride;
      System.arraycopy(text, first, values, i * context, context);
      labels[i] = text[first + context];
    }
    return new Examples(context, Characters.COUNT, 1, values, labels);
  }
}
