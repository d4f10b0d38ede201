// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.WeftConfig;
import java.time.Duration;
import java.util.Collection;

/// Whether all ranks that still run are stopped: such a rank never ends by itself, and nobody is
/// left who would give it up. Told after as long as another rank would have waited, so that a rank
/// which is only being looked at may go on. One thread.
final class StoppedRanks {

  /// Between looks.
  static final Duration LOOK = Duration.ofSeconds(1);

  private final Duration limit;
  private int looks;

  StoppedRanks(WeftConfig config) {
    this.limit = config.silenceLimit().isZero() ? config.deadline() : config.silenceLimit();
  }

  /// A look at those that still run, `LOOK` after the one before. This process may have been
  /// stopped too: only what it has seen counts.
  boolean areAllThatIsLeft(Collection<RankProcess> running) {
    boolean stopped =
        !running.isEmpty() && running.stream().allMatch(rank -> rank.fate().stopped());
    looks = stopped ? looks + 1 : 0;
    return LOOK.multipliedBy(looks).compareTo(limit) > 0;
  }
}
