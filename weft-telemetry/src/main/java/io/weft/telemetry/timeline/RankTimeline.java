// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.Weft;
import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.telemetry.flight.FlightInstrument;
import io.weft.telemetry.flight.FlightLog;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The timeline of a rank and its file. It records from `open` to `close`. The file is written on
/// request, after each failure of a communicator, and when a signal ends the process. If the
/// setting `timeline` names a directory, `Weft.init` opens the timeline and `Weft.close` closes it,
/// without action of the program. Owned. Thread-safe, except `compareClocks`, which is collective.
public final class RankTimeline implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RankTimeline.class);

  /// The time that `close` waits for the file of a failure.
  private static final Duration LAST = Duration.ofSeconds(5);

  private final Weft weft;
  private final Timeline timeline;
  private final Ticker ticker;
  private final @Nullable Path directory;
  private final List<ClockSample> clocks = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Thread> writing = new AtomicReference<>();
  private final Thread onExit =
      Thread.ofPlatform().name("weft-timeline-exit").unstarted(this::writeOrTell);
  private volatile boolean written;
  private final AtomicBoolean closed = new AtomicBoolean();

  private RankTimeline(Weft weft, Timeline timeline, Ticker ticker, @Nullable Path directory) {
    this.weft = weft;
    this.timeline = timeline;
    this.ticker = ticker;
    this.directory = directory;
  }

  /// Starts recording with the directory of the settings. Throws an `IOException` that names the
  /// path if the directory of the settings cannot be written.
  ///
  /// @param ticker the clock of the progress thread
  public static RankTimeline open(Weft weft, Ticker ticker) throws IOException {
    Objects.requireNonNull(ticker, "ticker");
    return open(weft, ticker, weft.config().value(TimelineConfig.DIRECTORY));
  }

  /// Starts recording with this directory; empty = without a file. If `Weft.init` has opened the
  /// timeline of this directory, this returns that timeline, which the caller may close.
  public static RankTimeline open(Weft weft, Ticker ticker, Optional<Path> directory)
      throws IOException {
    Objects.requireNonNull(ticker, "ticker");
    Optional<RankTimeline> begun =
        TimelineInstrument.begun(weft).filter(each -> each.isOpenIn(directory));
    return begun.isPresent() ? begun.get() : begin(weft, ticker, directory);
  }

  static RankTimeline begin(Weft weft, Ticker ticker, Optional<Path> directory) throws IOException {
    if (directory.isPresent()) {
      TimelineFile.prepare(directory.get(), weft.rank());
    }
    var recorded = new Timeline(ticker, weft.config().required(TimelineConfig.EVENTS));
    var opened = new RankTimeline(weft, recorded, ticker, directory.orElse(null));
    weft.observe(recorded);
    if (directory.isPresent()) {
      weft.onFailure(opened::failed);
      opened.writeOnExit();
    }
    return opened;
  }

  private boolean isOpenIn(Optional<Path> wanted) {
    return !closed.get()
        && directory != null
        && wanted.map(Path::toAbsolutePath).equals(Optional.of(directory.toAbsolutePath()));
  }

  private void writeOnExit() {
    try {
      Runtime.getRuntime().addShutdownHook(onExit);
    } catch (IllegalStateException ending) {
      // The process is already ending.
      assert ending.getMessage() != null;
    }
  }

  /// Returns the recorded events.
  public Timeline timeline() {
    return timeline;
  }

  /// Returns true if the timeline has a file.
  public boolean isKept() {
    return directory != null;
  }

  /// Compares this rank's clock with rank 0's, unless rank 0 is lost. Collective; waits. Callers
  /// compare at the start and at the end, so that the drift between them is known.
  public void compareClocks() throws InterruptedException {
    if (weft.members().ranks().getFirst() != 0) {
      return; // rank 0 is lost; former samples refer to its clock
    }
    clocks.add(ClockExchange.compare(weft.communicator(), ticker));
  }

  /// Writes the present events to the file, which replaces the former one. Has no effect without a
  /// directory.
  public void write() throws IOException {
    Path kept = directory;
    if (kept != null) {
      FlightLog.Self self = FlightInstrument.log(weft).self();
      var owner = new TimelineWriter.Owner(self.job(), self.rank(), self.size(), self.host());
      TimelineFile.write(kept, timeline, owner, List.copyOf(clocks));
      written = true;
    }
  }

  /// Stops recording. Waits at most 5 s for a file that is being written because of a failure, and
  /// writes the file if it was not written before. A second call has no effect.
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    try {
      Runtime.getRuntime().removeShutdownHook(onExit);
    } catch (IllegalStateException ending) {
      // The hook is running.
      assert ending.getMessage() != null;
    }
    weft.unobserve(timeline);
    timeline.stop();
    Thread thread = writing.get();
    if (thread != null) {
      try {
        if (!thread.join(LAST)) {
          LOG.warn("the timeline is not written after {} s; it is omitted", LAST.toSeconds());
        }
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    if (!written) {
      writeOrTell();
    }
  }

  /// Writes the file on a new thread. Called on the agent's thread.
  private void failed(CommException cause) {
    Thread writer = Thread.ofPlatform().daemon().name("weft-timeline").unstarted(this::writeFailed);
    if (writing.compareAndSet(null, writer)) {
      writer.start();
    }
  }

  private void writeFailed() {
    try {
      writeOrTell();
    } finally {
      writing.set(null);
    }
  }

  private void writeOrTell() {
    try {
      write();
    } catch (IOException | RuntimeException unwritable) {
      String why =
          unwritable instanceof IOException refused
              ? IoErrors.words(refused)
              : unwritable.toString();
      LOG.warn("the timeline of rank {} is not written: {}", weft.rank(), why);
    }
  }
}
