// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import java.util.List;

/// The declaration of the variable with the faults of `faulty-tcp`. Any thread may use it.
public final class FaultConfig implements OptionProvider {

  /// Creates the provider for `ServiceLoader`.
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
