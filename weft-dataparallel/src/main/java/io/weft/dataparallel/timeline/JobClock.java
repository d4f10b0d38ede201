// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

import io.weft.agent.Ticker;
import io.weft.collective.Communicator;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// A rank's clock beside that of the first rank of a communicator, compared now and then: the last
/// two comparisons count. One thread.
public final class JobClock {

  private final Ticker ticker;
  private final List<ClockSample> samples = new ArrayList<>(3);
  private ClockLine line = ClockLine.through(samples);

  /// @param ticker the rank's own
  public JobClock(Ticker ticker) {
    this.ticker = Objects.requireNonNull(ticker, "ticker");
  }

  /// Compares the clocks of all ranks by nine small allgathers. Collective; waits.
  public void compare(Communicator communicator) throws InterruptedException {
    samples.add(ClockExchange.compare(communicator, ticker));
    if (samples.size() > 2) {
      samples.removeFirst();
    }
    line = ClockLine.through(samples);
  }

  /// Returns whether the clocks were compared since the last `forget`.
  public boolean isCompared() {
    return !samples.isEmpty();
  }

  /// Forgets what was compared: the first rank may be another one from now on.
  public void forget() {
    samples.clear();
    line = ClockLine.through(samples);
  }

  /// Returns what the first rank's clock said when the rank's own said this.
  public long firstRankNanos(long nanos) {
    return line.rankZeroNanos(nanos);
  }
}
