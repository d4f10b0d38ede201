// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A condition of a rule: a number is in a range.
///
/// @param key the number
/// @param least lower bound, inclusive
/// @param most upper bound, inclusive
record Condition(ConditionKey key, long least, long most) {

  /// The longest length that a rule may name. Its product with the number of ranks still fits a
  /// `long`.
  private static final long MOST_BYTES = 1L << 44;

  private static final Pattern COMPARISON =
      Pattern.compile("(bytes|chunk|ranks|hosts)(<=|>=|<|>|=)([0-9]{1,13})([KMG]?)");
  private static final Map<String, Long> UNITS =
      Map.of("", 1L, "K", 1L << 10, "M", 1L << 20, "G", 1L << 30);

  /// The numbers that rules may test.
  enum ConditionKey {
    BYTES,
    CHUNK,
    RANKS,
    HOSTS,
    HOSTS_ARE_POWER_OF_TWO,
    CROWDED,
    SHARED_MEMORY,
    KERNEL,
    PRIVATE;

    boolean isSize() {
      return this == BYTES || this == CHUNK;
    }
  }

  /// Parses a condition. Throws `IllegalArgumentException` that lists the allowed conditions.
  static Condition parse(String text) {
    switch (text) {
      case "hosts=2^k" -> {
        return holds(ConditionKey.HOSTS_ARE_POWER_OF_TWO);
      }
      case "crowded" -> {
        return holds(ConditionKey.CROWDED);
      }
      case "shared-memory" -> {
        return holds(ConditionKey.SHARED_MEMORY);
      }
      case "private" -> {
        return holds(ConditionKey.PRIVATE);
      }
      case "kernel" -> {
        return holds(ConditionKey.KERNEL);
      }
      default -> {
        return comparison(text);
      }
    }
  }

  private static Condition holds(ConditionKey key) {
    return new Condition(key, 1, 1);
  }

  private static Condition comparison(String text) {
    Matcher matcher = COMPARISON.matcher(text);
    if (!matcher.matches()) {
      throw unknown(text);
    }
    ConditionKey key =
        switch (matcher.group(1)) {
          case "bytes" -> ConditionKey.BYTES;
          case "chunk" -> ConditionKey.CHUNK;
          case "ranks" -> ConditionKey.RANKS;
          default -> ConditionKey.HOSTS;
        };
    boolean exact = matcher.group(2).equals("=");
    boolean scaled = !matcher.group(4).isEmpty();
    if (key.isSize() ? exact : scaled) {
      throw unknown(text);
    }
    long value;
    try {
      value = bytes(matcher.group(3) + matcher.group(4));
    } catch (IllegalArgumentException beyond) {
      throw new IllegalArgumentException("'" + text + "' is beyond 16384G", beyond);
    }
    return switch (matcher.group(2)) {
      case "<=" -> new Condition(key, 0, value);
      case "<" -> new Condition(key, 0, value - 1);
      case ">" -> new Condition(key, value + 1, Long.MAX_VALUE);
      case ">=" -> new Condition(key, value, Long.MAX_VALUE);
      default -> new Condition(key, value, value);
    };
  }

  /// Parses a number with an optional unit.
  static long bytes(String text) {
    String unit = text.replaceAll("[0-9]", "");
    long number = Long.parseLong(text.substring(0, text.length() - unit.length()));
    long factor = UNITS.getOrDefault(unit, 1L);
    if (number > MOST_BYTES / factor) {
      throw new IllegalArgumentException("'" + text + "' is beyond 16384G");
    }
    return number * factor;
  }

  private static IllegalArgumentException unknown(String text) {
    return new IllegalArgumentException(
        "no condition '"
            + text
            + "'; allowed: bytes or chunk with <=, <, > or >= and a size such as 4096, 64K or 1M,"
            + " ranks or hosts with these or = and a number, hosts=2^k, crowded, shared-memory,"
            + " kernel, private");
  }

  /// Returns whether a layout fulfils this condition; true for a condition on sizes.
  boolean holdsFor(RankLayout layout) {
    long value =
        switch (key) {
          case BYTES, CHUNK -> least;
          case RANKS -> layout.ranks();
          case HOSTS -> layout.hosts();
          case HOSTS_ARE_POWER_OF_TWO -> Integer.bitCount(layout.hosts()) == 1 ? 1 : 0;
          case CROWDED -> layout.crowded() ? 1 : 0;
          case SHARED_MEMORY -> layout.sharesMemory() ? 1 : 0;
          case KERNEL -> layout.throughKernel() ? 1 : 0;
          case PRIVATE -> layout.bounces() ? 1 : 0;
        };
    return value >= least && value <= most;
  }

  /// Returns the length of the shortest tensor that fulfils this condition.
  long leastBytes(int ranks) {
    return switch (key) {
      case BYTES -> least;
      case CHUNK -> least * ranks;
      case RANKS, HOSTS, HOSTS_ARE_POWER_OF_TWO, CROWDED, SHARED_MEMORY, KERNEL, PRIVATE -> 0;
    };
  }

  /// Returns the length of the longest tensor that fulfils this condition.
  long mostBytes(int ranks) {
    return switch (key) {
      case BYTES -> most;
      case CHUNK -> most == Long.MAX_VALUE ? most : most * ranks + ranks - 1;
      case RANKS, HOSTS, HOSTS_ARE_POWER_OF_TWO, CROWDED, SHARED_MEMORY, KERNEL, PRIVATE ->
          Long.MAX_VALUE;
    };
  }
}
