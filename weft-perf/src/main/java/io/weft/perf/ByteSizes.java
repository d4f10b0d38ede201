// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The parser of tensor sizes in lists such as `4,64K,1M` and ranges such as `4..64M` in powers of
/// four. K, M and G are 2^10, 2^20 and 2^30.
final class ByteSizes {

  private static final Pattern SIZE = Pattern.compile("(\\d{1,12})([KMG]?)(?:I?B)?");
  private static final long LARGEST = 4L << 30;

  private ByteSizes() {}

  /// Returns the distinct sizes in ascending order. Throws `IllegalArgumentException` unless they
  /// are whole float32 elements from 4 to 4G bytes.
  static List<Long> parse(String text) {
    TreeSet<Long> sizes = new TreeSet<>();
    for (String part : text.split(",", -1)) {
      int dots = part.indexOf("..");
      if (dots < 0) {
        sizes.add(size(part, text));
      } else {
        addRange(sizes, size(part.substring(0, dots), text), size(part.substring(dots + 2), text));
      }
    }
    return new ArrayList<>(sizes);
  }

  private static void addRange(Set<Long> sizes, long from, long to) {
    if (from > to) {
      throw new IllegalArgumentException(
          "--bytes: range " + format(from) + ".." + format(to) + " is empty");
    }
    for (long bytes = from; bytes <= to; bytes *= 4) {
      sizes.add(bytes);
    }
  }

  private static long size(String part, String whole) {
    Matcher match = SIZE.matcher(part.strip().toUpperCase(Locale.ROOT));
    if (!match.matches()) {
      throw new IllegalArgumentException(
          "--bytes: '%s' in '%s' is not a size; write a list and ranges such as 4,64K,1M or 4..64M"
              .formatted(part, whole));
    }
    int shift =
        switch (match.group(2)) {
          case "K" -> 10;
          case "M" -> 20;
          case "G" -> 30;
          default -> 0;
        };
    long count = Long.parseLong(match.group(1));
    long bytes = count > LARGEST >> shift ? Long.MAX_VALUE : count << shift;
    if (bytes < Float.BYTES || bytes > LARGEST || bytes % Float.BYTES != 0) {
      throw new IllegalArgumentException(
          "--bytes: %s is not a number of float32 elements; allowed are multiples of 4 from 4 to 4G"
              .formatted(part.strip()));
    }
    return bytes;
  }

  /// Formats a size exactly: `64 KiB`, but `65540 B`.
  static String format(long bytes) {
    if (bytes != 0 && bytes % (1 << 30) == 0) {
      return (bytes >> 30) + " GiB";
    }
    if (bytes != 0 && bytes % (1 << 20) == 0) {
      return (bytes >> 20) + " MiB";
    }
    if (bytes != 0 && bytes % (1 << 10) == 0) {
      return (bytes >> 10) + " KiB";
    }
    return bytes + " B";
  }
}
