// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

import io.weft.InstrumentProvider;
import io.weft.Weft;
import io.weft.agent.Ticker;
import io.weft.cluster.JobConfig;
import io.weft.comm.CommException;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/// Opens the timeline of each rank whose settings name a directory for it. Stateless; any thread.
public final class TimelineInstrument implements InstrumentProvider {

  /// The timeline that is closed with the rank.
  private record Begun(Optional<RankTimeline> timeline) implements AutoCloseable {

    @Override
    public void close() {
      timeline.ifPresent(RankTimeline::close);
    }
  }

  /// Returns the timeline that `Weft.init` has opened; it may be closed.
  static Optional<RankTimeline> begun(Weft weft) {
    return weft.attached(Begun.class, rank -> new Begun(Optional.empty())).timeline();
  }

  /// Creates the provider for `ServiceLoader`.
  public TimelineInstrument() {}

  @Override
  public void open(Weft weft, Ticker clock) {
    Objects.requireNonNull(clock, "clock");
    Optional<Path> directory = weft.config().value(TimelineConfig.DIRECTORY);
    if (directory.isEmpty()) {
      return;
    }
    try {
      RankTimeline timeline = RankTimeline.begin(weft, clock, directory);
      if (!weft.config().required(JobConfig.JOIN)) {
        compareClocks(timeline);
      }
      var unused = weft.attached(Begun.class, rank -> new Begun(Optional.of(timeline)));
    } catch (IOException refused) {
      throw new CommException.Setup(
          "option timeline: rank "
              + weft.rank()
              + " cannot write into "
              + directory.get()
              + ": "
              + IoErrors.words(refused),
          refused);
    }
  }

  private static void compareClocks(RankTimeline timeline) {
    try {
      timeline.compareClocks();
    } catch (InterruptedException interrupted) {
      timeline.close();
      Thread.currentThread().interrupt();
      throw new CommException.Setup("interrupted while ranks compare their clocks", interrupted);
    } catch (CommException failed) {
      timeline.close();
      throw failed;
    }
  }
}
