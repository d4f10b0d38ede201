// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.util.List;

/// The settings of the TCP transport. Stateless; any thread.
public final class TcpConfig implements OptionProvider {

  /// The length of staged messages that is sent before more are staged, so that the peer can
  /// process it in parallel.
  public static final ConfigOption<Long> FLUSH_BYTES =
      ConfigOption.of(
          "tcp-flush-bytes",
          OptionType.bytes(1, 1 << 17),
          "12K",
          "length of messages that a TCP connection collects before it sends them within the call"
              + " that adds another");

  /// For `ServiceLoader`.
  public TcpConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(FLUSH_BYTES);
  }
}
