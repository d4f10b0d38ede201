// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/// The generator of new inputs from old ones. The same seed and calls yield the same inputs.
/// Confined to one thread.
final class Mutator {

  /// Numbers that reveal faults in the handling of lengths, counts and offsets.
  private static final long[] EXTREMES = {
    0,
    1,
    -1,
    2,
    16,
    24,
    31,
    32,
    64,
    127,
    128,
    255,
    256,
    1024,
    4096,
    32_767,
    32_768,
    65_535,
    65_536,
    65_537,
    Integer.MAX_VALUE,
    1L << 31,
    Integer.MIN_VALUE,
    (1L << 32) - 1,
    1L << 32,
    Long.MAX_VALUE,
    Long.MAX_VALUE - 7,
    Long.MIN_VALUE
  };

  private static final int[] WIDTHS = {1, 2, 4, 8};
  private static final int MAX_RUN = 64;
  private static final int LONG_RUN = 512;
  private static final int MAX_STEPS = 6;

  private final SplittableRandom random;
  private final List<byte[]> dictionary;

  Mutator(long seed, List<byte[]> dictionary) {
    this.random = new SplittableRandom(seed);
    this.dictionary = dictionary;
  }

  /// Returns a random number below `bound`.
  int below(int bound) {
    return random.nextInt(bound);
  }

  /// Makes one to six changes to `input`. Pieces may come from `other`. `pairs` are the numbers
  /// that the decoder compared when it read `input`.
  byte[] mutate(byte[] input, byte[] other, long[] pairs) {
    byte[] changed = input;
    for (int steps = 1 + random.nextInt(MAX_STEPS); steps > 0; steps--) {
      changed = step(changed, other, pairs);
    }
    return changed == input ? input.clone() : changed;
  }

  private byte[] step(byte[] input, byte[] other, long[] pairs) {
    int kind = random.nextInt(12);
    if (input.length == 0 && kind < 7) {
      kind = 7 + kind % 2;
    }
    return switch (kind) {
      case 0 -> {
        byte[] changed = input.clone();
        changed[at(input)] ^= (byte) (1 << random.nextInt(8));
        yield changed;
      }
      case 1 -> {
        byte[] changed = input.clone();
        changed[at(input)] = (byte) random.nextInt(256);
        yield changed;
      }
      case 2 -> number(input, EXTREMES[random.nextInt(EXTREMES.length)]);
      case 3 -> added(input);
      case 4 -> without(input, at(input), 1 + random.nextInt(MAX_RUN));
      case 5 -> Arrays.copyOf(input, at(input));
      case 6, 9 -> answered(input, pairs);
      case 7 -> inserted(input, word(other));
      case 8 -> inserted(input, run(other));
      case 10 -> overwritten(input, word(other));
      default -> overwritten(input, run(input.length == 0 ? other : input));
    };
  }

  private int at(byte[] input) {
    return random.nextInt(input.length);
  }

  /// Overwrites part of the input with a number in either byte order.
  private byte[] number(byte[] input, long value) {
    int width = WIDTHS[random.nextInt(WIDTHS.length)];
    return overwritten(input, bytes(value, width, random.nextBoolean()));
  }

  /// Adds a small number, positive or negative, to a number of the input.
  private byte[] added(byte[] input) {
    int width = WIDTHS[random.nextInt(WIDTHS.length)];
    boolean bigEndian = random.nextBoolean();
    if (input.length < width) {
      return input;
    }
    int at = random.nextInt(input.length - width + 1);
    byte[] changed = input.clone();
    long value = read(input, at, width, bigEndian) + random.nextInt(-35, 36);
    System.arraycopy(bytes(value, width, bigEndian), 0, changed, at, width);
    return changed;
  }

  /// Replaces a number that the decoder compared by its counterpart.
  private byte[] answered(byte[] input, long[] pairs) {
    if (pairs.length == 0) {
      return input;
    }
    int pair = 2 * random.nextInt(pairs.length / 2);
    int side = random.nextInt(2);
    long sought = pairs[pair + side];
    long wanted = pairs[pair + 1 - side] + random.nextInt(-1, 2);
    int width = WIDTHS[random.nextInt(WIDTHS.length)];
    boolean bigEndian = random.nextBoolean();
    byte[] before = bytes(sought, width, bigEndian);
    int start = input.length == 0 ? 0 : at(input);
    for (int i = 0; i + width <= input.length; i++) {
      int at = (start + i) % (input.length - width + 1);
      if (Arrays.equals(input, at, at + width, before, 0, width)) {
        byte[] changed = input.clone();
        System.arraycopy(bytes(wanted, width, bigEndian), 0, changed, at, width);
        return changed;
      }
    }
    return input;
  }

  private byte[] word(byte[] other) {
    return dictionary.isEmpty() ? run(other) : dictionary.get(random.nextInt(dictionary.size()));
  }

  /// Returns a piece of `from`, or equal bytes.
  private byte[] run(byte[] from) {
    int bytes = 1 + random.nextInt(random.nextInt(8) == 0 ? LONG_RUN : MAX_RUN);
    if (from.length == 0 || random.nextInt(4) == 0) {
      byte[] equal = new byte[bytes];
      Arrays.fill(equal, (byte) random.nextInt(256));
      return equal;
    }
    int start = at(from);
    return Arrays.copyOfRange(from, start, Math.min(from.length, start + bytes));
  }

  private byte[] inserted(byte[] input, byte[] piece) {
    int bytes = Math.min(piece.length, FuzzTarget.MAX_INPUT_BYTES - input.length);
    int at = random.nextInt(input.length + 1);
    byte[] changed = new byte[input.length + bytes];
    System.arraycopy(input, 0, changed, 0, at);
    System.arraycopy(piece, 0, changed, at, bytes);
    System.arraycopy(input, at, changed, at + bytes, input.length - at);
    return changed;
  }

  private byte[] overwritten(byte[] input, byte[] piece) {
    if (input.length == 0) {
      return input;
    }
    byte[] changed = input.clone();
    int at = at(input);
    System.arraycopy(piece, 0, changed, at, Math.min(piece.length, input.length - at));
    return changed;
  }

  /// Returns `input` without `bytes` bytes from `at`.
  static byte[] without(byte[] input, int at, int bytes) {
    int end = Math.min(input.length, at + bytes);
    byte[] changed = new byte[input.length - (end - at)];
    System.arraycopy(input, 0, changed, 0, at);
    System.arraycopy(input, end, changed, at, input.length - end);
    return changed;
  }

  private static byte[] bytes(long value, int width, boolean bigEndian) {
    byte[] bytes = new byte[width];
    for (int i = 0; i < width; i++) {
      bytes[bigEndian ? width - 1 - i : i] = (byte) (value >>> (8 * i));
    }
    return bytes;
  }

  private static long read(byte[] input, int at, int width, boolean bigEndian) {
    long value = 0;
    for (int i = 0; i < width; i++) {
      int from = bigEndian ? at + i : at + width - 1 - i;
      value = (value << 8) | (input[from] & 0xff);
    }
    return value;
  }
}
