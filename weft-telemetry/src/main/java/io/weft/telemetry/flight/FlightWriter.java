// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.telemetry.record.DeferredWriter;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The writer of a recorder's log after each failure, and when the process ends while collectives
/// are in progress. A sink that has failed gets no further log, so that an unreachable sink delays
/// the rank only once. Any thread.
public final class FlightWriter implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FlightWriter.class);

  private final FlightRecorder recorder;
  private final LongSupplier clock;
  private final List<FlightSink> sinks;
  private final Set<FlightSink> refusing = new HashSet<>(); // confined to the writer's thread
  private final @Nullable DeferredWriter writer;

  private FlightWriter(FlightRecorder recorder, LongSupplier clock, List<FlightSink> sinks) {
    this.recorder = recorder;
    this.clock = clock;
    this.sinks = List.copyOf(sinks);
    this.writer =
        sinks.isEmpty()
            ? null
            : DeferredWriter.open("weft-flight", "flight log", this::write, recorder::busy);
    if (writer != null) {
      recorder.onFailure(writer::request);
    }
  }

  /// Begins to watch for failures. Without sinks, it writes nothing and starts no thread.
  ///
  /// @param clock the progress thread's clock
  public static FlightWriter open(
      FlightRecorder recorder, LongSupplier clock, List<FlightSink> sinks) {
    return new FlightWriter(recorder, clock, sinks);
  }

  /// Returns the current log.
  public FlightLog log() {
    return recorder.log(clock.getAsLong());
  }

  /// Waits until the log after the last failure is written, at most 5 s. A second call has no
  /// effect.
  @Override
  public void close() {
    if (writer != null) {
      writer.close();
    }
  }

  private void write() {
    FlightLog log = log();
    for (FlightSink sink : sinks) {
      if (refusing.contains(sink)) {
        continue;
      }
      try {
        sink.put(log);
      } catch (IOException | RuntimeException unwritable) {
        refusing.add(sink);
        LOG.warn(
            "the flight log of rank {} is not written: {}",
            log.self().rank(),
            unwritable.toString());
      }
    }
  }
}
