// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.workloads.training.GradientExchange;
import java.util.Optional;

/// The option `--reproducible`.
final class ShardsFlag {

  static final String NAME = "--reproducible";
  static final String DEFAULT = "shards";
  static final String DESCRIPTION =
      "shards[:N]: the same bits on 1, 2, 4... up to N ranks; each computes the gradients of its"
          + " part of N shards of a batch in turn; default 8; --threads is then 1 unless given";

  private static final String ALLOWED = "shards, or shards:N with N a power of two from 1 to 1024";
  private static final int SHARDS = 8;
  private static final int MOST = 1024;

  private ShardsFlag() {}

  /// Parses the option. Throws `BadOption`.
  static Optional<GradientExchange.Shards> parse(Optional<String> given) {
    return given.map(
        text -> {
          if (text.equals(DEFAULT)) {
            return new GradientExchange.Shards(SHARDS);
          }
          int shards = text.matches("shards:[1-9][0-9]{0,3}") ? number(text) : 0;
          if (shards < 1 || shards > MOST || Integer.bitCount(shards) != 1) {
            throw BadOption.of(NAME, text, ALLOWED);
          }
          return new GradientExchange.Shards(shards);
        });
  }

  private static int number(String text) {
    return Integer.parseInt(text.substring(text.indexOf(':') + 1));
  }
}
