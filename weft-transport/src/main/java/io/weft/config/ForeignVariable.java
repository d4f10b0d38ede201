// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// A variable of another system's environment that says what an option of Weft's says, so that
/// scripts which set it go on to work.
///
/// @param name of the variable
/// @param translation from its text to that of the option; what cannot be translated it gives back
///   as it is, so that the option refuses it; an empty text where it says nothing of this option
public record ForeignVariable(String name, UnaryOperator<String> translation) {

  /// Returns what an environment says of the option by this variable, as the option's text; empty
  /// where it says nothing.
  public Optional<String> in(Map<String, String> environment) {
    return Optional.ofNullable(environment.get(name))
        .map(text -> text.isBlank() ? "" : translation.apply(text))
        .filter(text -> !text.isEmpty());
  }

  /// With the same text as the option.
  public static ForeignVariable named(String name) {
    return new ForeignVariable(name, UnaryOperator.identity());
  }

  /// A number in this unit: `60` is `60s`.
  public static ForeignVariable inUnit(String name, String unit) {
    return new ForeignVariable(name, text -> text.strip() + unit);
  }
}
