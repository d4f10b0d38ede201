// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.config.ConfigOption;
import io.weft.config.ConfigOption.Scope;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import io.weft.config.Settings;
import java.util.List;

/// The settings of the TCP transport. Stateless; any thread.
public final class TcpConfig implements OptionProvider {

  /// What two ranks of a host send each other at once over TCP. It lies in the kernel until the
  /// peer reads it, and is read fast only from a cache; on the other hand each call costs. Which of
  /// the two counts is a matter of the processor (`docs/adr/0071`).
  public static final ConfigOption<Long> PIECE_BYTES =
      ConfigOption.of(
              "tcp-piece-bytes",
              OptionType.powerOfTwoBytes(1 << 16, 1 << 20),
              "128K",
              "what two ranks of one host send each other at once over TCP, the same on both")
          .sameOn(Scope.HOST);

  /// For `ServiceLoader`.
  public TcpConfig() {}

  static int pieceBytes(Settings settings) {
    return Math.toIntExact(settings.required(PIECE_BYTES));
  }

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(PIECE_BYTES);
  }
}
