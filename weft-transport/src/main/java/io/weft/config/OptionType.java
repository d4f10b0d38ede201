// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The syntax of an option's text and the value that the text denotes. Immutable.
///
/// @param <T> type of the value
public final class OptionType<T> {

  private static final char UNREADABLE = '\uFFFD';
  private static final String AUTO = "auto";
  private static final Duration WEEK = Duration.ofDays(7);

  private final Class<T> valueType;
  private final String unit;
  private final String allowed;
  private final Function<String, ? extends T> parser;

  private OptionType(
      Class<T> valueType, String unit, String allowed, Function<String, ? extends T> parser) {
    this.valueType = valueType;
    this.unit = unit;
    this.allowed = allowed;
    this.parser = parser;
  }

  /// Creates a type that is specific to a module.
  ///
  /// @param unit the kind of text, as one word in capitals that command lines show
  /// @param allowed the bounds, for the documentation
  /// @param parser converts the text; throws `IllegalArgumentException` that states the requirement
  public static <T> OptionType<T> of(
      Class<T> valueType, String unit, String allowed, Function<String, ? extends T> parser) {
    return new OptionType<>(valueType, unit, allowed, parser);
  }

  /// Accepts text that is not blank, and removes surrounding white space.
  public static OptionType<String> text() {
    return of(String.class, "TEXT", "text", OptionType::nonBlank);
  }

  /// Accepts a path to a file or directory.
  public static OptionType<Path> path() {
    return of(Path.class, "PATH", "a path", text -> path(nonBlank(text), directory()));
  }

  private static String directory() {
    return System.getProperty("user.dir", "");
  }

  /// Returns the path. If the locale's encoding lacks a character of the name, Java replaces that
  /// character and would write elsewhere; this method rejects such names.
  static Path path(String text, String directory) {
    String remedy =
        " is no text in this locale's encoding ("
            + System.getProperty("sun.jnu.encoding")
            + "); set LC_ALL=C.UTF-8, or use ASCII";
    try {
      Path path = Path.of(text);
      if (text.indexOf(UNREADABLE) < 0
          && (path.isAbsolute() || directory.indexOf(UNREADABLE) < 0)) {
        return path;
      }
    } catch (InvalidPathException malformed) {
      throw new IllegalArgumentException(
          text.chars().allMatch(c -> c < 128) ? "is not a path" : remedy.strip(), malformed);
    }
    throw new IllegalArgumentException(
        text.indexOf(UNREADABLE) < 0
            ? "lies in the directory " + directory + ", whose name" + remedy
            : remedy.strip());
  }

  /// Accepts one of the constants, spelled as by `toString`.
  public static <E extends Enum<E>> OptionType<E> choice(Class<E> values) {
    String all =
        Arrays.stream(values.getEnumConstants())
            .map(Enum::toString)
            .collect(Collectors.joining(", "));
    return of(values, "VALUE", all, text -> chosen(text, values, all));
  }

  /// Accepts a duration of more than 0 and at most a week.
  public static OptionType<Duration> duration() {
    return of(Duration.class, "TIME", "up to 168h", OptionType::positiveDuration);
  }

  /// Accepts 0, or a duration from `leastMillis` to a week.
  public static OptionType<Duration> durationOrZero(long leastMillis) {
    String bounds = "0, or " + leastMillis + "ms to 168h";
    return of(Duration.class, "TIME", bounds, text -> durationOrZero(text, leastMillis));
  }

  /// Accepts a number of bytes within these bounds.
  public static OptionType<Long> bytes(long least, long most) {
    return of(
        Long.class, "SIZE", sizes(least, most), text -> Quantities.bytesWithin(text, least, most));
  }

  /// Accepts a power of two of bytes within these bounds.
  public static OptionType<Long> powerOfTwoBytes(long least, long most) {
    return of(
        Long.class,
        "SIZE",
        sizes(least, most) + ", a power of two",
        text -> powerOfTwo(Quantities.bytesWithin(text, least, most)));
  }

  /// Accepts `auto`, which parses to empty, or a number of bytes within these bounds.
  public static OptionType<OptionalInt> autoOrBytes(int least, int most) {
    return of(
        OptionalInt.class,
        "SIZE",
        "auto, or " + sizes(least, most),
        text ->
            isAuto(text)
                ? OptionalInt.empty()
                : OptionalInt.of((int) Quantities.bytesWithin(text, least, most)));
  }

  /// Accepts `auto`, which parses to empty, or a count.
  public static OptionType<OptionalInt> autoOrCount() {
    return of(OptionalInt.class, "COUNT", "auto, or 0 to 999999999", OptionType::autoOrCount);
  }

  /// Accepts `true` or `false`.
  public static OptionType<Boolean> flag() {
    return of(Boolean.class, "FLAG", "true or false", OptionType::trueOrFalse);
  }

  /// Accepts a whole number within these bounds.
  public static OptionType<Integer> number(int least, int most) {
    return of(
        Integer.class, "NUMBER", least + " to " + most, text -> numberWithin(text, least, most));
  }

  /// Returns the class of the value.
  public Class<T> valueType() {
    return valueType;
  }

  /// Returns the kind of text, as one word in capitals: `TIME`, `SIZE`, `PATH`.
  public String unit() {
    return unit;
  }

  /// Returns a description of the allowed values: `0, or 20ms to 168h`.
  public String allowed() {
    return allowed;
  }

  /// Parses a value. Throws `IllegalArgumentException` whose message states the requirement.
  public T parse(String text) {
    return parser.apply(text);
  }

  private static Boolean trueOrFalse(String text) {
    return switch (text.strip()) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("must be true or false");
    };
  }

  private static String sizes(long least, long most) {
    return Quantities.size(least) + " to " + Quantities.size(most);
  }

  private static String nonBlank(String text) {
    if (text.isBlank()) {
      throw new IllegalArgumentException("must not be empty");
    }
    return text.strip();
  }

  private static <E extends Enum<E>> E chosen(String text, Class<E> values, String all) {
    for (E value : values.getEnumConstants()) {
      if (value.toString().equals(text.strip())) {
        return value;
      }
    }
    throw new IllegalArgumentException("must be one of " + all);
  }

  private static Duration positiveDuration(String text) {
    Duration value = Quantities.duration(text);
    if (value.isZero() || value.compareTo(WEEK) > 0) {
      throw new IllegalArgumentException("must be more than 0 and at most 168h");
    }
    return value;
  }

  private static Duration durationOrZero(String text, long leastMillis) {
    Duration value = text.strip().equals("0") ? Duration.ZERO : Quantities.duration(text);
    if (!value.isZero()
        && (value.compareTo(Duration.ofMillis(leastMillis)) < 0 || value.compareTo(WEEK) > 0)) {
      throw new IllegalArgumentException("must be 0, or from " + leastMillis + "ms to 168h");
    }
    return value;
  }

  private static boolean isAuto(String text) {
    return text.strip().equals(AUTO);
  }

  private static OptionalInt autoOrCount(String text) {
    if (isAuto(text)) {
      return OptionalInt.empty();
    }
    if (!text.strip().matches("[0-9]{1,9}")) {
      throw new IllegalArgumentException("must be auto or a count from 0 to 999999999");
    }
    return OptionalInt.of(Integer.parseInt(text.strip()));
  }

  private static long powerOfTwo(long value) {
    if (Long.bitCount(value) != 1) {
      throw new IllegalArgumentException("must be a power of two, not " + value + " bytes");
    }
    return value;
  }

  private static int numberWithin(String text, int least, int most) {
    if (text.strip().matches("-?[0-9]{1,9}")) {
      int value = Integer.parseInt(text.strip());
      if (value >= least && value <= most) {
        return value;
      }
    }
    throw new IllegalArgumentException("must be a number from " + least + " to " + most);
  }
}
