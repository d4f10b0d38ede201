// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.Instrument;
import io.weft.InstrumentProvider;
import io.weft.JoiningRank;
import io.weft.Weft;
import io.weft.cluster.JobConfig;
import io.weft.comm.CommException;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The timeline of a rank whose settings name a directory for it. Any thread.
public final class TimelineInstrument implements Instrument {

  private final JoiningRank rank;
  private volatile @Nullable RankTimeline timeline;

  private TimelineInstrument(JoiningRank rank) {
    this.rank = rank;
  }

  /// Opens the timeline of each rank. Stateless; any thread.
  public static final class Provider implements InstrumentProvider {

    /// Creates the provider for `ServiceLoader`.
    public Provider() {}

    @Override
    public Instrument open(JoiningRank rank) {
      return new TimelineInstrument(rank);
    }
  }

  /// Returns the timeline that `Weft.init` has opened; it may be closed.
  static Optional<RankTimeline> begun(Weft weft) {
    return weft.instrument(TimelineInstrument.class).map(each -> each.timeline);
  }

  @Override
  public void joined(Weft weft) {
    Optional<Path> directory = weft.config().value(TimelineConfig.DIRECTORY);
    if (directory.isEmpty()) {
      return;
    }
    try {
      RankTimeline begun = RankTimeline.begin(weft, rank.clock(), directory);
      timeline = begun;
      if (!weft.config().required(JobConfig.JOIN)) {
        begun.compareClocks();
      }
    } catch (IOException refused) {
      throw new CommException.Setup(
          "option timeline: rank "
              + weft.rank()
              + " cannot write into "
              + directory.get()
              + ": "
              + IoErrors.words(refused),
          refused);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CommException.Setup("interrupted while ranks compare their clocks", interrupted);
    }
  }

  @Override
  public void leaving() {
    RankTimeline begun = timeline;
    if (begun != null) {
      begun.close();
    }
  }
}
