// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.WeftConfig;
import java.time.Duration;
import java.util.Collection;

/// Detects that all remaining ranks are stopped. A stopped rank never ends by itself, and no other
/// rank is left to declare it lost. Detection takes as long as another rank would have waited, so
/// that a rank under inspection may continue. One thread.
final class StoppedRanks {

  /// The interval of observations.
  static final Duration LOOK = Duration.ofSeconds(1);

  private final Duration limit;
  private int looks;

  StoppedRanks(WeftConfig config) {
    this.limit = config.silenceLimit().isZero() ? config.deadline() : config.silenceLimit();
  }

  /// Observes the running ranks, `LOOK` after the last call. Returns true if all were stopped
  /// longer than the limit. Only observed time counts, because this process may have been stopped
  /// too.
  boolean areAllThatIsLeft(Collection<RankProcess> running) {
    boolean stopped =
        !running.isEmpty() && running.stream().allMatch(rank -> rank.fate().stopped());
    looks = stopped ? looks + 1 : 0;
    return LOOK.multipliedBy(looks).compareTo(limit) > 0;
  }
}
