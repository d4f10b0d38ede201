// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.nio.charset.StandardCharsets;

/// Decimal numbers in bytes of text: `-1.25`, `8.692932128906250000e-01`. Numbers of at most 18
/// digits and powers of ten up to 22, as in published files, are read without an object.
final class DecimalText {

  private static final int MOST_DIGITS = 18;
  private static final int MOST_EXPONENT = 1000;
  private static final double[] POWERS = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22
  };

  private DecimalText() {}

  /// Returns the number in `text[from, to)`; NaN unless it is a finite decimal number.
  static float parse(byte[] text, int from, int to) {
    int at = from;
    boolean negative = at < to && text[at] == '-';
    at += negative || (at < to && text[at] == '+') ? 1 : 0;
    long digits = 0;
    int used = 0;
    int seen = 0;
    int exponent = 0;
    boolean fraction = false;
    for (; at < to; at++) {
      int digit = text[at] - '0';
      if (digit >= 0 && digit <= 9) {
        seen++;
        if (used < MOST_DIGITS) {
          digits = 10 * digits + digit;
          used += digits == 0 ? 0 : 1;
          exponent -= fraction ? 1 : 0;
        } else {
          exponent += fraction ? 0 : 1;
        }
      } else if (text[at] == '.' && !fraction) {
        fraction = true;
      } else {
        break;
      }
    }
    if (seen == 0) {
      return Float.NaN;
    }
    if (at < to) {
      int power = exponent(text, at, to);
      if (power == Integer.MIN_VALUE) {
        return Float.NaN;
      }
      exponent += power;
    }
    return value(text, from, to, negative ? -digits : digits, exponent);
  }

  /// Returns the exponent after `e`; the least integer if there is none.
  private static int exponent(byte[] text, int from, int to) {
    int at = from + 1;
    if ((text[from] | 0x20) != 'e' || at == to) {
      return Integer.MIN_VALUE;
    }
    boolean negative = text[at] == '-';
    at += negative || text[at] == '+' ? 1 : 0;
    int power = 0;
    if (at == to) {
      return Integer.MIN_VALUE;
    }
    for (; at < to; at++) {
      int digit = text[at] - '0';
      if (digit < 0 || digit > 9) {
        return Integer.MIN_VALUE;
      }
      power = Math.min(MOST_EXPONENT, 10 * power + digit);
    }
    return negative ? -power : power;
  }

  private static float value(byte[] text, int from, int to, long digits, int exponent) {
    float value;
    if (exponent <= 0 && exponent >= 1 - POWERS.length) {
      value = (float) (digits / POWERS[-exponent]);
    } else if (exponent > 0 && exponent < POWERS.length) {
      value = (float) (digits * POWERS[exponent]);
    } else {
      value = Float.parseFloat(new String(text, from, to - from, StandardCharsets.ISO_8859_1));
    }
    return Float.isFinite(value) ? value : Float.NaN;
  }
}
