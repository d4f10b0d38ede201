// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// What the text of an option may be. Each throws `IllegalArgumentException` whose message says
/// what the text must be.
final class OptionTexts {

  private OptionTexts() {}

  /// How many letters must be put in, taken out or replaced to make one text the other.
  static int distance(String one, String other) {
    int[] before = IntStream.rangeClosed(0, other.length()).toArray();
    for (int i = 1; i <= one.length(); i++) {
      int[] now = new int[other.length() + 1];
      now[0] = i;
      for (int j = 1; j <= other.length(); j++) {
        int replaced = before[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        now[j] = Math.min(replaced, 1 + Math.min(before[j], now[j - 1]));
      }
      before = now;
    }
    return before[other.length()];
  }

  /// Any text but none, without the space around it.
  static String nonBlank(String text) {
    if (text.isBlank()) {
      throw new IllegalArgumentException("must not be empty");
    }
    return text.strip();
  }

  /// The name of a transport.
  static String scheme(String text) {
    String scheme = text.strip();
    if (!scheme.matches("[a-z][a-z0-9-]*")) {
      throw new IllegalArgumentException(
          "must be auto or a transport's name in lower case, such as tcp");
    }
    return scheme;
  }

  /// More than 0, at most a week.
  static Duration positiveDuration(String text) {
    Duration value = Quantities.duration(text);
    if (value.isZero() || value.compareTo(Duration.ofDays(7)) > 0) {
      throw new IllegalArgumentException("must be more than 0 and at most 168h");
    }
    return value;
  }

  /// 0, or from `least` to a week.
  static Duration durationOrZero(String text, Duration least) {
    Duration value = text.strip().equals("0") ? Duration.ZERO : Quantities.duration(text);
    if (!value.isZero()
        && (value.compareTo(least) < 0 || value.compareTo(Duration.ofDays(7)) > 0)) {
      throw new IllegalArgumentException("must be 0, or from " + Span.millis(least) + "ms to 168h");
    }
    return value;
  }

  /// The one that is written so.
  static <E extends Enum<E>> E choice(String text, E[] values) {
    for (E value : values) {
      if (value.toString().equals(text.strip())) {
        return value;
      }
    }
    throw new IllegalArgumentException(
        "must be one of "
            + Arrays.stream(values).map(Enum::toString).collect(Collectors.joining(", ")));
  }

  /// Empty for auto.
  static OptionalInt autoOrCount(String text) {
    if (text.strip().equals("auto")) {
      return OptionalInt.empty();
    }
    if (!text.strip().matches("[0-9]{1,9}")) {
      throw new IllegalArgumentException("must be auto or a count from 0 to 999999999");
    }
    return OptionalInt.of(Integer.parseInt(text.strip()));
  }

  /// Empty for auto, else 8 bytes to 1 MiB.
  static OptionalInt autoOrBytes(String text, long least, long most) {
    return text.strip().equals("auto")
        ? OptionalInt.empty()
        : OptionalInt.of((int) bytes(text, least, most));
  }

  /// A size within these bounds.
  static long bytes(String text, long least, long most) {
    long value = Quantities.bytes(text);
    if (value < least || value > most) {
      throw new IllegalArgumentException("must be from " + least + " to " + most + " bytes");
    }
    return value;
  }

  /// The same, if it is one.
  static long powerOfTwo(long value) {
    if (Long.bitCount(value) != 1) {
      throw new IllegalArgumentException("must be a power of two, not " + value + " bytes");
    }
    return value;
  }

  /// 0, or a size within these bounds that is one. A whole number within these bounds.
  static int number(String text, int least, int most) {
    if (text.strip().matches("-?[0-9]{1,9}")) {
      int value = Integer.parseInt(text.strip());
      if (value >= least && value <= most) {
        return value;
      }
    }
    throw new IllegalArgumentException("must be a number from " + least + " to " + most);
  }

  /// An address with a port: a host without a colon, or an address between brackets.
  static String hostAndPort(String text) {
    String wanted = "must be HOST:PORT, such as 10.0.0.7:29400";
    String store = text.strip();
    boolean bracketed = store.startsWith("[");
    int end = bracketed ? store.indexOf(']') + 1 : store.lastIndexOf(':');
    String host = store.substring(0, Math.max(0, end));
    if (!bracketed && host.indexOf(':') >= 0) {
      throw new IllegalArgumentException(
          wanted + "; an IPv6 address stands in brackets: write [" + store + "]:PORT");
    }
    if (bracketed && end == store.length()) {
      throw new IllegalArgumentException(wanted + "; write " + store + ":PORT");
    }
    String port = store.substring(Math.min(end + 1, store.length()));
    if (host.isBlank()
        || host.replaceAll("[\\[\\]]", "").isBlank()
        || store.charAt(end) != ':'
        || !port.matches("[0-9]{1,5}")) {
      throw new IllegalArgumentException(wanted);
    }
    if (Integer.parseInt(port) < 1 || Integer.parseInt(port) > 65535) {
      throw new IllegalArgumentException(wanted + "; the port is from 1 to 65535");
    }
    return store;
  }
}
