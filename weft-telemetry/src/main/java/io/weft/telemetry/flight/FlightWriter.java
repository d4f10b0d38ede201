// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The writer of a recorder's log after each failure, and when the process ends while operations
/// are in progress. It writes on a separate daemon thread, which the first failure starts, so that
/// no progress thread waits for a disk. A sink that has failed gets no further log, so that an
/// unreachable sink delays the rank only once. Any thread.
public final class FlightWriter implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FlightWriter.class);

  /// The longest time for which the end of a rank, or of its process, waits for the last log.
  private static final Duration LAST = Duration.ofSeconds(5);

  private final FlightRecorder recorder;
  private final LongSupplier clock;
  private final List<FlightSink> sinks;
  private final Set<FlightSink> refusing = new HashSet<>(); // confined to the thread
  private final Thread thread;
  private final Thread atExit;
  private final AtomicLong wanted = new AtomicLong();
  private final AtomicBoolean started = new AtomicBoolean();
  private volatile boolean closed;

  private FlightWriter(FlightRecorder recorder, LongSupplier clock, List<FlightSink> sinks) {
    this.recorder = recorder;
    this.clock = clock;
    this.sinks = List.copyOf(sinks);
    this.thread = Thread.ofPlatform().daemon().name("weft-flight").unstarted(this::run);
    this.atExit = Thread.ofPlatform().name("weft-flight-exit").unstarted(this::exit);
  }

  /// Begins to watch for failures. Without sinks, it writes nothing and starts no thread.
  ///
  /// @param clock the progress thread's clock
  public static FlightWriter open(
      FlightRecorder recorder, LongSupplier clock, List<FlightSink> sinks) {
    var writer = new FlightWriter(recorder, clock, sinks);
    if (!sinks.isEmpty()) {
      recorder.onFailure(writer::request);
      Runtime.getRuntime().addShutdownHook(writer.atExit);
    }
    return writer;
  }

  /// Returns the current log.
  public FlightLog log() {
    return recorder.log(clock.getAsLong());
  }

  /// Waits until the log after the last failure is written, at most 5 s. A second call has no
  /// effect.
  @Override
  public void close() {
    if (!sinks.isEmpty()) {
      try {
        Runtime.getRuntime().removeShutdownHook(atExit);
      } catch (IllegalStateException exiting) {
        LOG.debug("{}", exiting.getMessage());
      }
    }
    finish();
  }

  private void request() {
    wanted.incrementAndGet();
    if (started.compareAndSet(false, true)) {
      thread.start();
    } else {
      LockSupport.unpark(thread);
    }
  }

  private void exit() {
    if (recorder.busy()) {
      request();
    }
    finish();
  }

  private void finish() {
    closed = true;
    if (!started.get()) {
      return;
    }
    LockSupport.unpark(thread);
    try {
      if (!thread.join(LAST)) {
        LOG.warn("the flight log is not written after {} s; it is left out", LAST.toSeconds());
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    long written = 0;
    while (true) {
      boolean last = closed; // read before wanted, so that earlier requests are written
      long now = wanted.get();
      if (now != written) {
        written = now;
        write();
      } else if (last) {
        return;
      } else {
        LockSupport.park(this);
      }
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
