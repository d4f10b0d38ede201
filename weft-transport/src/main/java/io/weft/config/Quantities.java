// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Parses durations (`500ms`, `60s`, `2m`, `1h`) and sizes (`4096`, `64K`, `1M`, `2G`; units are
/// powers of two), and formats sizes. All parsers throw `IllegalArgumentException` that states the
/// allowed format.
final class Quantities {

  private static final Pattern NUMBER_AND_UNIT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)([a-z]*)");
  private static final Map<String, Long> NANOS =
      Map.of("ms", 1_000_000L, "s", 1_000_000_000L, "m", 60_000_000_000L, "h", 3_600_000_000_000L);
  private static final Map<String, Long> BYTES =
      Map.of("", 1L, "k", 1L << 10, "m", 1L << 20, "g", 1L << 30);

  private Quantities() {}

  static Duration duration(String text) {
    return Duration.ofNanos(scaled(text, "", NANOS, "a duration such as 500ms, 60s, 2m or 1h"));
  }

  static long bytes(String text) {
    return scaled(text, "i?b$", BYTES, "a size such as 4096, 64K, 1M or 2G");
  }

  /// Parses a size within these bounds.
  static long bytesWithin(String text, long least, long most) {
    long value = bytes(text);
    if (value < least || value > most) {
      throw new IllegalArgumentException("must be from " + least + " to " + most + " bytes");
    }
    return value;
  }

  /// Formats a size: 1 MiB is `1M`.
  static String size(long bytes) {
    for (String unit : List.of("g", "m", "k")) {
      long scale = BYTES.getOrDefault(unit, 1L);
      if (bytes >= scale && bytes % scale == 0) {
        return bytes / scale + unit.toUpperCase(Locale.ROOT);
      }
    }
    return Long.toString(bytes);
  }

  private static long scaled(
      String text, String ignoredEnding, Map<String, Long> units, String allowed) {
    Matcher matcher = NUMBER_AND_UNIT.matcher(text.strip().toLowerCase(Locale.ROOT));
    if (matcher.matches()) {
      Long unit = units.get(matcher.group(2).replaceFirst(ignoredEnding, ""));
      if (unit != null) {
        try {
          BigDecimal scaled = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(unit));
          return scaled.toBigInteger().longValueExact();
        } catch (ArithmeticException tooLarge) {
          throw new IllegalArgumentException("must be " + allowed + ", not that large", tooLarge);
        }
      }
    }
    throw new IllegalArgumentException("must be " + allowed);
  }
}
