// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.turns;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import java.util.List;

/// The variable that names the socket over which measured ranks take turns. Stateless. Safe for use
/// by any thread.
public final class TurnsConfig implements OptionProvider {

  /// For `ServiceLoader`.
  public TurnsConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of();
  }

  @Override
  public List<String> variables() {
    return List.of(Turns.VARIABLE);
  }
}
