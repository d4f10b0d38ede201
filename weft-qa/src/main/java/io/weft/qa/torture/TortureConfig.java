// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import java.util.List;

/// The variable that marks the processes of a series. Stateless. Safe for use by any thread.
public final class TortureConfig implements OptionProvider {

  /// For `ServiceLoader`.
  public TortureConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of();
  }

  @Override
  public List<String> variables() {
    return List.of(Processes.MARK);
  }
}
