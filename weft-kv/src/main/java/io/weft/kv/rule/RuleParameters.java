// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/// The parts of a text such as `adagrad:lr=0.05,eps=1e-7`: a name and its parameters. A parameter
/// that is read but not given has its default. A parameter that is given but never read is an
/// error. Each method throws `IllegalArgumentException`, which names the text and the parameter,
/// for a value that is not allowed. One thread.
public final class RuleParameters {

  private final String kind;
  private final String text;
  private final String name;
  private final Map<String, String> given = new LinkedHashMap<>();
  private final Map<String, String> allowed = new LinkedHashMap<>();

  /// Parses a text.
  ///
  /// @param kind the kind of the text for messages, such as "update rule"
  RuleParameters(String kind, String text) {
    this.kind = kind;
    this.text = text;
    int colon = text.indexOf(':');
    name = (colon < 0 ? text : text.substring(0, colon)).strip();
    if (colon >= 0) {
      for (String part : text.substring(colon + 1).split(",", -1)) {
        int equals = part.indexOf('=');
        if (equals < 1) {
          throw wrong("'" + part + "' is not of the form parameter=value");
        }
        String parameter = part.substring(0, equals).strip();
        if (given.put(parameter, part.substring(equals + 1).strip()) != null) {
          throw wrong("'" + parameter + "' is given twice");
        }
      }
    }
  }

  /// Returns the text with other values of some parameters.
  ///
  /// @param parameters such as `lr=0.01,clip=1`
  String with(String parameters) {
    var changes = new RuleParameters("change of " + kind + " '" + text + "'", ":" + parameters);
    Map<String, String> all = new LinkedHashMap<>(given);
    all.putAll(changes.given);
    return name
        + ":"
        + all.entrySet().stream()
            .map(each -> each.getKey() + "=" + each.getValue())
            .collect(Collectors.joining(","));
  }

  /// Returns the name, the part before the colon.
  public String name() {
    return name;
  }

  /// Returns a finite number of at least `least`, or `otherwise` if the parameter is not given.
  public float number(String parameter, float otherwise, float least) {
    Objects.requireNonNull(parameter, "parameter");
    allowed.put(parameter, Float.toString(otherwise));
    String value = given.get(parameter);
    if (value == null) {
      return otherwise;
    }
    try {
      float number = Float.parseFloat(value);
      if (Float.isFinite(number) && number >= least) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw wrong("'" + parameter + "' is '" + value + "', which is not a number");
    }
    throw wrong("'" + parameter + "' is " + value + ", but must be at least " + least);
  }

  /// Returns a number of at least 0 and less than 1, or `otherwise` if the parameter is not given.
  public float fraction(String parameter, float otherwise) {
    float number = number(parameter, otherwise, 0);
    if (number >= 1) {
      throw wrong("'" + parameter + "' is " + number + ", but must be less than 1");
    }
    return number;
  }

  /// Returns a number above 0, or `otherwise` if the parameter is not given.
  public float positive(String parameter, float otherwise) {
    float number = number(parameter, otherwise, 0);
    if (number == 0) {
      throw wrong("'" + parameter + "' is 0, but must be more than that");
    }
    return number;
  }

  /// Returns `true` or `false`; the default is false.
  public boolean flag(String parameter) {
    Objects.requireNonNull(parameter, "parameter");
    allowed.put(parameter, "false");
    String value = given.getOrDefault(parameter, "false");
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default -> throw wrong("'" + parameter + "' is '" + value + "', not true or false");
    };
  }

  /// Throws if a given parameter was never read.
  void end() {
    for (String parameter : given.keySet()) {
      if (!allowed.containsKey(parameter)) {
        throw wrong(
            "unknown parameter '"
                + parameter
                + "'; '"
                + name
                + "' has "
                + (allowed.isEmpty()
                    ? "none"
                    : allowed.entrySet().stream()
                        .map(e -> e.getKey() + " (default " + e.getValue() + ")")
                        .collect(Collectors.joining(", "))));
      }
    }
  }

  /// Returns an exception that names the text.
  ///
  /// @param why the fault, in words
  public IllegalArgumentException wrong(String why) {
    Objects.requireNonNull(why, "why");
    return new IllegalArgumentException(kind + " '" + text + "': " + why);
  }
}
