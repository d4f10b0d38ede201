// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.Instrument;
import io.weft.InstrumentProvider;
import io.weft.JoiningRank;
import io.weft.Weft;
import io.weft.collective.CommunicatorObservers;
import io.weft.observer.Observers;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The flight recorder of a rank and the writer of its log. Any thread.
public final class FlightInstrument implements Instrument {

  private final FlightRecorder recorder = new FlightRecorder();
  private final List<FlightSink> sinks;
  private final JoiningRank rank;
  private @Nullable FlightWriter writer;

  private FlightInstrument(JoiningRank rank) {
    this.rank = rank;
    List<FlightSink> all = new ArrayList<>();
    rank.config().value(FlightConfig.DIRECTORY).ifPresent(d -> all.add(new FlightFile(d)));
    rank.launcher().ifPresent(store -> all.add(new FlightPost(store.location(), store.trust())));
    sinks = List.copyOf(all);
  }

  /// Opens the recorder of each rank. Stateless; any thread.
  public static final class Provider implements InstrumentProvider {

    /// Creates the provider for `ServiceLoader`.
    public Provider() {}

    @Override
    public Instrument open(JoiningRank rank) {
      return new FlightInstrument(rank);
    }
  }

  /// Returns the last operations, failures and peers of a rank, as in its flight file. Any thread,
  /// even while the progress thread is blocked.
  public static FlightLog log(Weft weft) {
    FlightInstrument own =
        weft.instrument(FlightInstrument.class)
            .orElseThrow(() -> new IllegalStateException("the rank has no flight recorder"));
    return own.recorder.log(own.rank.clock().nanos());
  }

  @Override
  public void observe(Observers operations, CommunicatorObservers communicators) {
    recorder.joined(
        FlightLog.Self.of(rank.job(), rank.topology(), rank.rank()),
        rank.topology(),
        rank.clock().nanos(),
        rank.lastHeard());
    operations.add(recorder);
    communicators.add(recorder);
    writer = FlightWriter.open(recorder, rank.clock()::nanos, sinks);
  }

  @Override
  public void left() {
    FlightWriter opened = writer;
    if (opened != null) {
      opened.close();
    }
  }
}
