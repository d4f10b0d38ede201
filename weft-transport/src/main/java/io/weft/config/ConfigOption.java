// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// One setting, as data: the command line, the environment, the file and the documentation all read
/// it from here. `start-deadline` is `--start-deadline`, `WEFT_START_DEADLINE` and
/// `weft.start.deadline`. Declared once, as a constant of the module that reads it, in an
/// `OptionProvider`. Immutable.
///
/// @param <T> what its text means
public final class ConfigOption<T> {

  /// Among which ranks the value must be the same, because they would not understand each other
  /// else.
  public enum Scope {
    /// Each rank may have its own.
    RANK,
    /// The same on all ranks of a job.
    JOB,
    /// On all ranks of a job, or on none; each rank may have its own.
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

  /// An option with a default. `name` is in lower case, words joined by hyphens; `help` is one line
  /// for people. Each rank may have its own value.
  public static <T> ConfigOption<T> of(
      String name, OptionType<T> type, String defaultText, String help) {
    return new ConfigOption<>(name, type, defaultText, Scope.RANK, help);
  }

  /// An option whose value depends on the job where nothing is said; `help` says how.
  public static <T> ConfigOption<T> withoutDefault(String name, OptionType<T> type, String help) {
    return new ConfigOption<>(name, type, null, Scope.RANK, help);
  }

  /// The same option, with a value that ranks must agree on.
  public ConfigOption<T> sameOn(Scope ranks) {
    return new ConfigOption<>(name, type, defaultText, ranks, help, foreign);
  }

  /// The same option, which a variable of another system also sets where nothing else does.
  public ConfigOption<T> orVariable(ForeignVariable variable) {
    return new ConfigOption<>(name, type, defaultText, scope, help, variable);
  }

  /// The variable of another system that sets it where nothing else does.
  public Optional<ForeignVariable> foreign() {
    return Optional.ofNullable(foreign);
  }

  /// Lower case, words joined by hyphens.
  public String name() {
    return name;
  }

  /// `--` and the name.
  public String flag() {
    return "--" + name;
  }

  /// The environment's variable.
  public String variable() {
    return "WEFT_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /// The system property, which is also the key in a file.
  public String property() {
    return "weft." + name.replace('-', '.');
  }

  /// The value that holds when nothing is said, as text; empty = it depends on the job, see `help`.
  public Optional<String> defaultText() {
    return Optional.ofNullable(defaultText);
  }

  /// What its text may be.
  public OptionType<T> type() {
    return type;
  }

  /// Among which ranks the value must be the same.
  public Scope scope() {
    return scope;
  }

  /// Whether its value names a file or directory, which a process elsewhere needs as a whole path.
  public boolean isPath() {
    return type.valueType().equals(Path.class);
  }

  /// One line for people.
  public String help() {
    return help;
  }

  /// Reads a value. Throws `IllegalArgumentException` naming the option, `origin` (where the text
  /// was found), the text and what is allowed; its cause says the last alone.
  public T parse(String text, String origin) {
    try {
      return type.parse(text);
    } catch (IllegalArgumentException refused) {
      throw new IllegalArgumentException(
          "option " + name + ": '" + text + "' from " + origin + " " + refused.getMessage(),
          refused);
    }
  }

  /// The name that is most like a mistyped one; empty where none is.
  public static Optional<String> nearest(String mistyped, Collection<String> names) {
    return names.stream()
        .filter(name -> distance(mistyped, name) <= Math.max(1, name.length() / 4))
        .min(
            Comparator.comparingInt((String name) -> distance(mistyped, name))
                .thenComparing(Comparator.naturalOrder()));
  }

  /// How many letters must be put in, taken out or replaced to make one text the other.
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
