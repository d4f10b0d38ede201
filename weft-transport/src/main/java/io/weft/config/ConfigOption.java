// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// An immutable description of one setting, shared by the command line, the environment, the file
/// and the documentation. For example, `start-deadline` is set by `--start-deadline`,
/// `WEFT_START_DEADLINE` or `weft.start.deadline`. The module that reads an option declares it
/// once, as a constant, and publishes it in an `OptionProvider`.
///
/// @param <T> type of the value
public final class ConfigOption<T> {

  /// The set of ranks that must agree on the value, because they could not interoperate otherwise.
  public enum Scope {
    /// Each rank may have a different value.
    RANK,
    /// All ranks of a job must have the same value.
    JOB,
    /// Either all ranks of a job must set the option, or none may; the values may differ.
    PRESENCE
  }

  private final String name;
  private final OptionType<T> type;
  private final @Nullable String defaultText;
  private final Scope scope;
  private final String help;
  private final @Nullable ForeignVariable foreign;

  private ConfigOption(
      String name, OptionType<T> type, @Nullable String defaultText, Scope scope, String help) {
    this(name, type, defaultText, scope, help, null);
  }

  private ConfigOption(
      String name,
      OptionType<T> type,
      @Nullable String defaultText,
      Scope scope,
      String help,
      @Nullable ForeignVariable foreign) {
    this.name = name;
    this.type = type;
    this.defaultText = defaultText;
    this.scope = scope;
    this.help = help;
    this.foreign = foreign;
  }

  /// Creates an option with a default, whose value may differ between ranks. `name` is in lower
  /// case with hyphens between words; `help` is one line of text.
  public static <T> ConfigOption<T> of(
      String name, OptionType<T> type, String defaultText, String help) {
    return new ConfigOption<>(name, type, defaultText, Scope.RANK, help);
  }

  /// Creates an option whose default depends on the job; `help` says how.
  public static <T> ConfigOption<T> withoutDefault(String name, OptionType<T> type, String help) {
    return new ConfigOption<>(name, type, null, Scope.RANK, help);
  }

  /// Returns this option with another scope.
  public ConfigOption<T> sameOn(Scope ranks) {
    return new ConfigOption<>(name, type, defaultText, ranks, help, foreign);
  }

  /// Returns this option with a variable of another system as a fallback below all other sources.
  public ConfigOption<T> orVariable(ForeignVariable variable) {
    return new ConfigOption<>(name, type, defaultText, scope, help, variable);
  }

  /// Returns the variable of another system that sets this option if no other source does.
  public Optional<ForeignVariable> foreign() {
    return Optional.ofNullable(foreign);
  }

  /// Returns the name in lower case, with hyphens between words.
  public String name() {
    return name;
  }

  /// Returns `--` and the name.
  public String flag() {
    return "--" + name;
  }

  /// Returns the name of the environment variable.
  public String variable() {
    return "WEFT_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /// Returns the name of the system property, which is also the key in a file.
  public String property() {
    return "weft." + name.replace('-', '.');
  }

  /// Returns the default as text; empty if the default depends on the job, see `help`.
  public Optional<String> defaultText() {
    return Optional.ofNullable(defaultText);
  }

  /// Returns the type of the value.
  public OptionType<T> type() {
    return type;
  }

  /// Returns the set of ranks that must agree on the value.
  public Scope scope() {
    return scope;
  }

  /// Returns whether the value names a file or directory; a process elsewhere needs its absolute
  /// path.
  public boolean isPath() {
    return type.valueType().equals(Path.class);
  }

  /// Returns one line of text for users.
  public String help() {
    return help;
  }

  /// Parses a value. Throws `IllegalArgumentException` naming the option, `origin` (the source of
  /// the text), the text and the allowed values; the message of its cause names only the allowed
  /// values.
  public T parse(String text, String origin) {
    try {
      return type.parse(text);
    } catch (IllegalArgumentException refused) {
      throw new IllegalArgumentException(
          "option " + name + ": '" + text + "' from " + origin + " " + refused.getMessage(),
          refused);
    }
  }

  /// Returns the name most similar to a mistyped one; empty if none is similar enough.
  public static Optional<String> nearest(String mistyped, Collection<String> names) {
    return names.stream()
        .filter(name -> distance(mistyped, name) <= Math.max(1, name.length() / 4))
        .min(
            Comparator.comparingInt((String name) -> distance(mistyped, name))
                .thenComparing(Comparator.naturalOrder()));
  }

  /// Returns the edit distance: the count of letters to insert, delete or replace.
  private static int distance(String one, String other) {
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

  @Override
  public String toString() {
    return name;
  }
}
