// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.Optional;

/// Settings with another value for one option.
///
/// @param others the settings of all other options
/// @param overridden the option
/// @param own its value
record OverriddenSettings(Settings others, ConfigOption<?> overridden, Object own)
    implements Settings {

  @Override
  public <T> Optional<T> value(ConfigOption<T> option) {
    return option.equals(overridden)
        ? Optional.of(option.type().valueType().cast(own))
        : others.value(option);
  }
}
