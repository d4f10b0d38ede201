// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.agent.Ticker;
import io.weft.collective.Communicator;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// The conversion of a rank's clock to that of the first rank of a communicator, by repeated
/// comparisons. It uses the last two. One thread.
public final class JobClock {

  private final Ticker ticker;
  private final List<ClockSample> samples = new ArrayList<>(3);
  private ClockLine line = ClockLine.through(samples);

  /// @param ticker the rank's own clock
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

  /// Returns true if the clocks were compared since the last `forget`.
  public boolean isCompared() {
    return !samples.isEmpty();
  }

  /// Removes the comparisons, because the first rank may be another one from now on.
  public void forget() {
    samples.clear();
    line = ClockLine.through(samples);
  }

  /// Returns the time of the first rank's clock at this time of the rank's own clock.
  public long firstRankNanos(long nanos) {
    return line.rankZeroNanos(nanos);
  }
}
