// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// An environment variable of another system that has the meaning of a Weft option, so that
/// existing scripts which set it continue to work.
///
/// @param name of the variable
/// @param translation converts the variable's text to the option's text; it returns text that it
///   cannot convert unchanged, so that the option rejects it, and an empty text to leave the option
///   unset
public record ForeignVariable(String name, UnaryOperator<String> translation) {

  /// Returns the option's text according to this variable; empty if the environment does not set
  /// it.
  public Optional<String> in(Map<String, String> environment) {
    return Optional.ofNullable(environment.get(name))
        .map(text -> text.isBlank() ? "" : translation.apply(text))
        .filter(text -> !text.isEmpty());
  }

  /// Returns a variable with the same text format as the option.
  public static ForeignVariable named(String name) {
    return new ForeignVariable(name, UnaryOperator.identity());
  }

  /// Returns a variable that holds a number in the given unit: `60` becomes `60s`.
  public static ForeignVariable inUnit(String name, String unit) {
    return new ForeignVariable(name, text -> text.strip() + unit);
  }
}
