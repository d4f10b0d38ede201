// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import java.util.List;

/// The variable that says what goes wrong with the transport `faulty-tcp`. Stateless; any thread.
public final class FaultConfig implements OptionProvider {

  /// For `ServiceLoader`.
  public FaultConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of();
  }

  @Override
  public List<String> variables() {
    return List.of(FaultyTcp.VARIABLE);
  }
}
